"""What is named by one string."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.base.errors import UsageError
from simulator.base.parameters import create_named, name_of


@dataclass(frozen=True)
class Thing:
    size: int = 3
    share: float = 0.5
    loud: bool = False
    file: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Other:
    count: int


CLASSES: dict[str, type] = {"thing": Thing, "other": Other}


def test_a_name_alone_and_with_parameters() -> None:
    assert create_named("kind", CLASSES, " thing ") == Thing()
    made = create_named("kind", CLASSES, "thing: loud=true, at=2,file=a/b.c:d")
    assert made == Thing(loud=True, at=2.0, file="a/b.c:d")
    assert name_of(CLASSES, made) == "thing:loud=true,file=a/b.c:d,at=2.0"
    assert name_of(CLASSES, Thing()) == "thing"
    assert name_of(CLASSES, Other(4)) == "other:count=4"


@given(
    made=st.builds(
        Thing,
        size=st.integers(-(2**53), 2**53),
        share=st.floats(-1e15, 1e15),
        loud=st.booleans(),
        file=st.from_regex(r"[a-z./]{0,9}", fullmatch=True),
        at=st.none() | st.floats(0, 1),
    )
)
def test_what_is_written_is_read_again(made: Thing) -> None:
    assert create_named("kind", CLASSES, name_of(CLASSES, made)) == made


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("think", "kind 'think': unknown name 'think'; did you mean 'thing'?"),
        ("", "kind '': unknown name ''; expected one of: thing, other"),
        ("thing:sizes=2", "unknown parameter 'sizes'; did you mean 'size'?"),
        ("thing:size", "expected key=value, found 'size'"),
        ("thing:size=1,size=2", "parameter 'size' is given twice"),
        ("thing:size=1.5", "size: expected a whole number, found '1.5'"),
        ("thing:share=inf", "share: expected a finite number, found 'inf'"),
        ("thing:share=1e999", "share: expected a finite number, found '1e999'"),
        ("other", "parameter 'count' is missing (write count=...)"),
    ],
)
def test_what_is_wrong_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        create_named("kind", CLASSES, spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value)

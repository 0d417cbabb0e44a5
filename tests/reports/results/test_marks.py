"""Foresight cannot hide: whoever looks ahead is marked, whatever it is called."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND, marks_in, marks_of

PLAIN = {"placer": "last", "eviction": "lru", "admission": "always"}
MODULE = '''
from policies.eviction.belady import Belady
from policies.eviction.lru import Lru
from policies.placement.dense import Dense


class Derived(Belady):
    """Derives from one that looks ahead."""


class Denies(Belady):
    """Says that it does not look ahead."""

    clairvoyant = False


class Says(Lru):
    """Sets the mark itself."""

    clairvoyant = True


class SaysLate(Lru):
    """Sets the mark when it is made."""

    def __init__(self):
        super().__init__()
        self.clairvoyant = True


class Free(Dense):
    """Derives from an upper bound."""
'''


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "seers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("seers", None)


@pytest.mark.parametrize(
    ("kind", "spec", "marks"),
    [
        ("eviction", "lru", ()),
        ("eviction", "belady", (LOOKS_AHEAD,)),
        ("placer", "clairvoyant", (LOOKS_AHEAD,)),
        ("placer", "dense", (UPPER_BOUND,)),
        ("eviction", "seers:Derived", (LOOKS_AHEAD,)),
        ("eviction", "seers:Denies", (LOOKS_AHEAD,)),
        ("eviction", "seers:Says", (LOOKS_AHEAD,)),
        ("eviction", "seers:SaysLate", (LOOKS_AHEAD,)),
        ("placer", "seers:Free", (UPPER_BOUND,)),
    ],
)
def test_the_policy_itself_is_asked(kind: str, spec: str, marks: tuple[str, ...]) -> None:
    assert marks_of(PLAIN | {kind: spec}) == marks


def test_marks_travel_with_the_row() -> None:
    assert marks_in(PLAIN | {"marks": ""}) == ()
    assert marks_in(PLAIN | {"eviction": "gone:Away", "marks": LOOKS_AHEAD}) == (LOOKS_AHEAD,)
    both = f"{UPPER_BOUND}, {LOOKS_AHEAD}"
    assert marks_in(PLAIN | {"marks": both}) == (UPPER_BOUND, LOOKS_AHEAD)


def test_rows_of_an_earlier_version_are_marked_by_registered_names() -> None:
    assert marks_in(PLAIN | {"placer": "dense", "eviction": "belady"}) == (UPPER_BOUND, LOOKS_AHEAD)
    assert marks_in(PLAIN) == ()

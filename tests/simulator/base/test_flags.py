"""Options of a command line from the fields of a dataclass."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest

from simulator.base.flags import Flag, add_flags, flags_of


@dataclass(frozen=True, kw_only=True)
class Shared:
    seed: Annotated[int, Flag("Of the traffic.")] = 0


@dataclass(frozen=True, kw_only=True)
class Asked(Shared):
    out: Annotated[Path, Flag("Where to write.")]
    load: Annotated[float | None, Flag("At most 100 %.", "SHARE")] = None
    clock_rate: Annotated[str, Flag("As in '2 GHz'.")] = "50 %"
    fresh: Annotated[bool, Flag("Begin anew.")] = False
    bound: Annotated[int, "not an option"] = 3
    notes: list[str] = field(default_factory=list)


def parser() -> argparse.ArgumentParser:
    built = argparse.ArgumentParser(prog="asked")
    add_flags(built, Asked)
    return built


def parsed(*words: str) -> Asked:
    return Asked(**vars(parser().parse_args(words)))


def test_only_fields_with_a_flag_are_options_inherited_ones_too() -> None:
    kinds = {each.name: kind for each, kind, _ in flags_of(Asked)}
    assert kinds == {"seed": int, "out": Path, "load": float, "clock_rate": str, "fresh": bool}


def test_what_is_not_given_keeps_its_default() -> None:
    assert parsed("--out", "here") == Asked(out=Path("here"))


def test_values_have_the_type_of_their_field() -> None:
    words = ["--out", "a/b", "--seed", "7", "--load", "0.5", "--clock-rate", "3GHz", "--fresh"]
    expected = Asked(out=Path("a/b"), seed=7, load=0.5, clock_rate="3GHz", fresh=True)
    assert parsed(*words) == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "required: --out"),
        (["--out", "a", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["--out", "a", "--bound", "1"], "unrecognized arguments: --bound 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*words)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_help_shows_metavar_default_and_signs_of_percent() -> None:
    shown = " ".join(parser().format_help().split())
    assert "--load SHARE At most 100 %." in shown
    assert "--seed SEED Of the traffic. Default: 0." in shown
    assert "As in '2 GHz'. Default: 50 %." in shown
    assert "None" not in shown

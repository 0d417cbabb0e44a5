"""`milepost compare`: two runs or two sweeps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from reports.commands.options import Json
from reports.console import print_json, print_line, say

TARGET_MISSED = 99
DirA = Annotated[Path, typer.Argument(metavar="DIR_A", help="Folder of `run --out` or `sweep`.")]
DirB = Annotated[Path, typer.Argument(metavar="DIR_B", help="Another of the same kind.")]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="CHANGE",
        help="Exit 99 if B changes so: token_hit_rate<-1%, mean_ttft>+50ms.",
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="As in p90_ttft; default: the usual four."),
]
Resample = Annotated[
    Literal["time", "sessions", "documents"] | None,
    typer.Option(help="Draw these again; default: whatever gives the widest interval."),
]


def compare(
    a: DirA,
    b: DirB,
    fail_if: FailIf = None,
    measure: Measures = None,
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Traces may differ.")] = False,
    resample: Resample = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a page and its data.")] = None,
    json: Json = False,
) -> None:
    """Say what differs between two runs: settings first, then what B saves and waits less A."""
    from reports.two_runs import compare_folders, parse_condition
    from reports.two_runs.condition import broken
    from reports.two_runs.measures import USUAL
    from reports.two_runs.shown import as_json, failure_line, print_comparison
    from reports.two_runs.stored import PAGE, refuse_other_folder, told, write_comparison

    conditions = [parse_condition(text) for text in fail_if or ()]
    if out is not None:
        refuse_other_folder(out)
    names = [*(measure or USUAL), *(condition.measure.name for condition in conditions)]
    found = compare_folders(a, b, measures=names, paired=not unpaired, unit=resample)
    failures = broken(found, conditions)
    lines = [failure_line(condition, compared) for condition, compared in failures]
    if out is not None:
        flags = {"--fail-if": fail_if, "--measure": measure, "--resample": resample and [resample]}
        command = command_line(a, b, flags, paired=found.paired)
        write_comparison(out, told(found, lines, command))
    if json:
        print_json(as_json(found, failures))
    else:
        print_comparison(found)
    if out is not None and not json:
        print_line(f"the page: {out / PAGE}")
    for line in lines:
        say(f"failed: {line}")
    if failures:
        raise typer.Exit(TARGET_MISSED)


def command_line(
    a: Path, b: Path, flags: Mapping[str, Sequence[str] | None], *, paired: bool
) -> str:
    """Return the command that compares the same again."""
    words = ["milepost", "compare", str(a), str(b), "--out", "DIR"]
    for flag, values in flags.items():
        for value in values or ():
            words += [flag, value]
    return shlex.join([*words, *(() if paired else ("--unpaired",))])

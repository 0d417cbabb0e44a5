"""`milepost compare`: two runs or two sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reports.commands.options import Json
from reports.console import print_json, say

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
    json: Json = False,
) -> None:
    """Say what differs between two runs: settings first, then what B saves and waits less A."""
    from reports.two_runs import compare_folders, parse_condition
    from reports.two_runs.condition import broken
    from reports.two_runs.measures import USUAL
    from reports.two_runs.shown import as_json, failure_line, print_comparison

    conditions = [parse_condition(text) for text in fail_if or ()]
    names = [*(measure or USUAL), *(condition.measure.name for condition in conditions)]
    found = compare_folders(a, b, measures=names, paired=not unpaired, unit=resample)
    failures = broken(found, conditions)
    if json:
        print_json(as_json(found, failures))
    else:
        print_comparison(found)
    for condition, compared in failures:
        say(f"failed: {failure_line(condition, compared)}")
    if failures:
        raise typer.Exit(TARGET_MISSED)

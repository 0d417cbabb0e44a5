"""`milepost compare`: two runs or two sweeps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import print_line, say
from simulator.base.errors import UsageError, printable

if TYPE_CHECKING:
    from reports.results.margins import Margins

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

MarginPoints = Annotated[
    str | None, typer.Option(metavar="POINTS", help="Rates within this are tied; default: 0.5.")
]
MarginTimes = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Times within this are tied; default: 2%.")
]


@options
class CompareCommand(JsonOption):
    """List what differs between two runs: settings first, then B's savings and waits minus A's."""

    a: DirA
    b: DirB
    fail_if: FailIf = None
    measure: Measures = None
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Traces may differ.")] = False
    resample: Resample = None
    margin_points: MarginPoints = None
    margin_times: MarginTimes = None
    out: Annotated[Path | None, typer.Option(help="Folder for a page and its data.")] = None

    def run(self) -> None:
        """Compare the folders, and print what differs."""
        from reports.compare import compare_folders, parse_condition
        from reports.compare.condition import broken
        from reports.compare.measures import USUAL
        from reports.compare.shown import failure_line
        from reports.compare.stored import as_json, refuse_other_folder
        from reports.pages.comparison import comparison_report
        from reports.report.showing import show
        from reports.report.store import store

        conditions = [parse_condition(text) for text in self.fail_if or ()]
        margins = _margins(self.margin_points, self.margin_times)
        if self.out is not None:
            refuse_other_folder(self.out)
        names = [*(self.measure or USUAL), *(condition.measure.name for condition in conditions)]
        runs = compare_folders(
            self.a,
            self.b,
            measures=names,
            paired=not self.unpaired,
            unit=self.resample,
            margins=margins,
        )
        failures = broken(runs, conditions)
        lines = [failure_line(condition, compared) for condition, compared in failures]
        flags = {
            "--fail-if": self.fail_if,
            "--measure": self.measure,
            "--resample": self.resample and [self.resample],
            "--margin-points": self.margin_points and [self.margin_points],
            "--margin-times": self.margin_times and [self.margin_times],
        }
        report = comparison_report(
            runs, lines, command_line(self.a, self.b, flags, paired=runs.paired)
        )
        page = None if self.out is None else store(report, self.out)
        show(replace(report, data=as_json(runs, failures)), as_json=self.json)
        if page is not None and not self.json:
            print_line(f"the page: {page}")
        for line in lines:
            say(f"failed: {line}")
        if failures:
            raise typer.Exit(TARGET_MISSED)


def _margins(points: str | None, times: str | None) -> Margins:
    """Return the margins that two flags state; UsageError for a value that is not a margin."""
    from reports.results.margins import Margins
    from simulator.base.units import parse_share

    usual = Margins()
    try:
        margins = Margins(
            usual.points if points is None else float(points),
            usual.times if times is None else parse_share(times, "--margin-times"),
        )
    except ValueError as error:
        raise UsageError(
            f"--margin-points: expected a number of points, found '{printable(str(points), 40)}'"
        ) from error
    if not 0 <= margins.points <= 100:
        raise UsageError(f"--margin-points: expected 0 to 100, found {margins.points:g}")
    if not 0 <= margins.times < 1:
        raise UsageError(f"--margin-times: expected 0 to less than 100 %, found {times}")
    return margins


def command_line(
    a: Path, b: Path, flags: Mapping[str, Sequence[str] | None], *, paired: bool
) -> str:
    """Return the command line that repeats the comparison."""
    words = ["milepost", "compare", str(a), str(b), "--out", "DIR"]
    for flag, values in flags.items():
        for value in values or ():
            words += [flag, value]
    return shlex.join([*words, *(() if paired else ("--unpaired",))])

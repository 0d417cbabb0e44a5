"""`milepost sweep`: a grid of simulations, in parallel, resumable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.declared import Sets, options
from reports.commands.options import DryRunOption, OutputOptions
from reports.commands.running import CELLS_FAILED, WorkerOptions, running
from reports.commands.study_options import (
    GridOptions,
    PercentileOptions,
    ReplicationOptions,
    StudyOptions,
)
from reports.console import minutes_text, print_json, print_line, say

if TYPE_CHECKING:
    from reports.execution.sweep import SweepReport
    from reports.report import Report


@options
class SweepCommand(
    GridOptions,
    PercentileOptions,
    ReplicationOptions,
    StudyOptions,
    WorkerOptions,
    DryRunOption,
    OutputOptions,
):
    """Run the grid and the replications of a study; write tables and a page.

    Flags replace settings of the study file; without a file, they alone are the study: repeat
    --policy, --placer, --eviction, --admission, --profile, and list capacities, as in --capacity
    8GiB,16GiB.
    A sweep that was stopped continues where it was: give the same study and the same --out.
    """

    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None
    baseline: Annotated[
        str | None,
        typer.Option(help="The placer that others are compared with."),
        Sets("study.baseline"),
    ] = None
    until_ci: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Add replications until intervals are within, as in 1%."
        ),
        Sets("study.until_ci"),
    ] = None
    max_replications: Annotated[
        int | None,
        typer.Option(help="With --until-ci; default: 100."),
        Sets("study.max_replications"),
    ] = None

    def run(self) -> None:
        """Run the cells that the folder does not hold yet, and write tables and the page."""
        jobs = self.workers()
        self.refuse_nothing_given("sweep")
        if self.dry_run:
            self._tell_plan(jobs)
            return
        if self.out is None:
            raise typer.BadParameter("--out DIR is needed", param_hint="--out")
        from reports.execution.sweep import sweep
        from reports.pages.study import kept_report
        from reports.report.store import store

        settings, command = self.settings, self.command_line("sweep")
        with running(settings, self.out, quiet=self.silent) as progress:
            swept = sweep(settings, self.out, jobs, command, progress, self.cluster)
        report = kept_report(self.out)
        store(report, self.out)
        _print_swept(swept, report, as_json=self.json, quiet=self.quiet)
        if swept.failed:
            raise typer.Exit(CELLS_FAILED)

    def _tell_plan(self, jobs: int) -> None:
        from reports.execution.estimate import estimate

        with self.settings.naming():
            plan = estimate(self.settings, jobs)
        _print_estimate(plan, self.json)


def _print_swept(swept: SweepReport, report: Report, *, as_json: bool, quiet: bool) -> None:
    from reports.execution.sweep import describe
    from reports.pages.study import conclusions
    from reports.report.json_text import as_json as plain_values

    _warn(swept, quiet=as_json or quiet)
    if as_json:
        print_json(plain_values(replace(report, data=describe(swept, conclusions(report)))))
        return
    done = len(swept.outcomes) - len(swept.failed)
    page = swept.folder / report.page_file
    print_line(f"{done} of {len(swept.outcomes)} cells done; the page: {page}")
    for sentence in conclusions(report):
        print_line(sentence)


def _warn(swept: SweepReport, *, quiet: bool) -> None:
    """Print the caveats of a sweep on stderr."""
    from reports.execution.sweep import loads_of
    from reports.results.overload import grown_words, range_words
    from reports.study.capacities import small_capacities

    for note in small_capacities(cell.study for cell, _ in swept.outcomes):
        say(f"note: {note}")
    loads = loads_of(swept)
    if not quiet and (load_line := range_words(loads)) is not None:
        say(load_line)
    if (warning := grown_words(loads)) is not None:
        say(f"warning: {warning}")
    for cell, outcome in swept.failed:
        say(f"failed: {cell.study.policy.placer}, cell {cell.identity}: {outcome.error}")
    for warning in swept.warnings:
        say(f"warning: {warning}")
    if swept.reached is False:
        say("the intervals are still wider than --until-ci asks, with the most replications")


def _print_estimate(plan: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    most = plan["max_replications"]
    first = "in the first round, " if most > plan["replications"] else ""
    print(
        f"{first}{plan['cells']:,} cells ({plan['scenarios']:,} scenarios x "
        f"{plan['replications']:,} replications), {plan['requests']:,} requests in all, "
        f"{minutes_text(plan['minutes'])} on {plan['jobs']} processes, about "
        f"{plan['disk_bytes'] / 1e6:.1f} MB on disk"
    )

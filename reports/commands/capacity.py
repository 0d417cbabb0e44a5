"""`milepost capacity`: the least memory that meets a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.declared import Given, options
from reports.commands.options import DryRunOption, OutputOptions
from reports.commands.running import CELLS_FAILED, FolderOption, WorkerOptions, running
from reports.commands.study_options import (
    CAPACITY,
    GridOptions,
    ReplicationOptions,
    StudyOptions,
)
from reports.console import minutes_text, print_json, say

if TYPE_CHECKING:
    from reports.capacity.finding import CapacityQuestion

TARGET_MISSED = 99


@options
class CapacityCommand(
    FolderOption,
    GridOptions,
    ReplicationOptions,
    StudyOptions,
    WorkerOptions,
    DryRunOption,
    OutputOptions,
):
    """Find the least memory that meets a target, for each combination of a study's policies.

    Metrics: p99_ttft, p95_ttft or any percentile as in p99.9_ttft, mean_ttft, token_hit_rate,
    throughput (requests/s) and, with --prices, cost (dollars per million prompt tokens). Exit code
    99 where no size suffices.
    Flags replace settings of the study file; without a file, they alone are the study. --capacity
    lists the sizes that the search begins with.
    """

    target: Annotated[
        list[str], typer.Option(metavar="METRIC<=VALUE", help="As in 'p99_ttft<=800ms'.")
    ]
    prices: Annotated[
        Path | None, typer.Option(help="TOML: dollars_per_gib_hour, dollars_per_gpu_hour.")
    ] = None
    within: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Relative precision of the answer.")
    ] = 0.03
    sensitivity: Annotated[
        bool, typer.Option(help="Vary traffic, prompts, model, KV and states.")
    ] = True

    def run(self) -> None:
        """Search, write the page, and print the answer."""
        jobs = self.workers()
        self.refuse_nothing_given("capacity")
        question = self._question()
        if self.dry_run:
            self._tell_plan(question, jobs)
            return
        from reports.capacity.finding import find_capacity
        from reports.pages.capacity import capacity_report
        from reports.report.showing import show
        from reports.report.store import store

        with running(self.settings, self.out, quiet=self.silent) as progress:
            result = find_capacity(question, self.out, jobs, progress, self.cluster)
        report = capacity_report(result)
        page = None if self.out is None else store(report, self.out)
        for warning in result.warnings:
            say(f"warning: {warning}")
        show(report, as_json=self.json)
        if page is not None:
            say(f"page: {page}")
        for answer in result.failed:
            say(f"failed: {answer.name}: {answer.error}")
        if result.failed:
            raise typer.Exit(CELLS_FAILED)
        if result.best is None:
            raise typer.Exit(TARGET_MISSED)

    def given(self) -> Given:
        """Return the settings that options replace; capacities always belong to the grid."""
        given = super().given()
        if "--capacity" in given:
            _, sizes = given["--capacity"]
            listed = sizes if isinstance(sizes, list) else [sizes]
            given["--capacity"] = f"grid.{CAPACITY}", listed
        return given

    def _question(self) -> CapacityQuestion:
        from reports.capacity.finding import CapacityQuestion, notes_on
        from reports.capacity.price import read_prices
        from reports.capacity.target import only_target, unit_notes

        settings, target = self.settings, only_target(self.target)
        with settings.naming():
            notes = notes_on(settings)
        for note in [*unit_notes(self.target), *notes]:
            say(f"note: {note}")
        priced = None if self.prices is None else read_prices(self.prices)
        command = self.command_line("capacity", *self._asked())
        return CapacityQuestion(settings, target, priced, self.within, self.sensitivity, command)

    def _asked(self) -> list[str]:
        """Return the command-line words for the target and the search, without the study."""
        words = [word for target in self.target for word in ("--target", target)]
        words += [] if self.prices is None else ["--prices", str(self.prices)]
        words += [] if self.within == 0.03 else ["--within", str(self.within)]
        return words if self.sensitivity else [*words, "--no-sensitivity"]

    def _tell_plan(self, question: CapacityQuestion, jobs: int) -> None:
        from reports.capacity.estimate import estimate_capacity

        with self.settings.naming():
            plan = estimate_capacity(question, jobs)
        _print_estimate(plan, self.json)


def _print_estimate(plan: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    print(
        f"{plan['combinations']:,} combinations x {plan['replications']:,} replications, "
        f"{plan['cells_at_least']:,} to {plan['cells_at_most']:,} cells as the search needs them, "
        f"{plan['requests_at_least']:,} to {plan['requests_at_most']:,} requests in all, "
        f"{minutes_text(plan['minutes_at_least'], plan['minutes_at_most'])} on {plan['jobs']} "
        f"processes, up to {plan['disk_bytes_at_most'] / 1e6:.1f} MB on disk"
    )

"""`milepost capacity`: the least memory that meets a target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.groups import spread
from reports.commands.options import (
    AS_IT_SAYS,
    DryRun,
    Json,
    Quiet,
    Replications,
    Requests,
    Seed,
    Sets,
    StudyFile,
    TraceFlags,
    Warmup,
    settings_from,
)
from reports.commands.running import (
    CELLS_FAILED,
    Cluster,
    Jobs,
    cores,
    refuse_jobs_beside,
    running,
)
from reports.commands.study_flags import NO_GRID, NO_TRAFFIC, Given, GridFlags, TrafficFlags
from reports.commands.sweep import command_line, refuse_nothing_given
from reports.console import minutes_text, print_json, say

if TYPE_CHECKING:
    from reports.capacity.finding import CapacityQuestion
    from reports.study.settings import Settings

TARGET_MISSED = 99
Targets = Annotated[
    list[str],
    typer.Option("--target", metavar="METRIC<=VALUE", help="As in 'p99_ttft<=800ms'."),
]


@spread()
def capacity(
    target: Targets,
    study: StudyFile = None,
    traffic: TrafficFlags = NO_TRAFFIC,
    reading: TraceFlags = AS_IT_SAYS,
    requests: Requests = None,
    grid: GridFlags = NO_GRID,
    warmup: Warmup = None,
    replications: Replications = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page, and to go on from when stopped.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="TOML: dollars_per_gib_hour, dollars_per_gpu_hour.")
    ] = None,
    within: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Step in which the answer is told, a share.")
    ] = 0.03,
    sensitivity: Annotated[
        bool, typer.Option(help="Vary traffic, prompts, model, KV and states.")
    ] = True,
    jobs: Jobs = None,
    cluster: Cluster = None,
    seed: Seed = None,
    sets: Sets = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the least memory that meets a target, for each combination of a study's policies.

    Metrics: p99_ttft, p95_ttft or any percentile as in p99.9_ttft, mean_ttft, token_hit_rate,
    throughput (requests/s) and, with --prices, cost (dollars per million prompt tokens). Exit code
    99 where none suffices.
    Flags replace what the study says; without one they are the study. --capacity lists the sizes
    that the search begins with.
    """
    refuse_jobs_beside(cluster, jobs)
    flags: Given = {
        **traffic.settings(),
        **reading.settings(),
        "--requests": ("workload.requests", requests),
        **grid.settings(lists=("capacity",)),
        "--warmup": ("study.warmup", warmup),
        "--replications": ("study.replications", replications),
        "--seed": ("study.seed", seed),
    }
    refuse_nothing_given("capacity", study, flags, sets)
    settings = settings_from(study, flags, sets)
    asked = _words(target, prices, within, sensitivity)
    command = command_line("capacity", study, flags, sets, *asked)
    question = _question(settings, target, prices, within, sensitivity, command)
    if dry_run:
        from reports.capacity.estimate import estimate_capacity

        with settings.naming():
            plan = estimate_capacity(question, jobs or cores())
        _print_estimate(plan, json)
        return
    from reports.capacity.finding import find_capacity
    from reports.pages.capacity import capacity_report
    from reports.report.showing import show
    from reports.report.store import store

    with running(settings, out, quiet=quiet or json) as progress:
        result = find_capacity(question, out, jobs or cores(), progress, cluster)
    report = capacity_report(result)
    page = None if out is None else store(report, out)
    for warning in result.warnings:
        say(f"warning: {warning}")
    show(report, as_json=json)
    if page is not None:
        say(f"page: {page}")
    for answer in result.failed:
        say(f"failed: {answer.name}: {answer.error}")
    if result.failed:
        raise typer.Exit(CELLS_FAILED)
    if result.best is None:
        raise typer.Exit(TARGET_MISSED)


def _question(
    settings: Settings,
    targets: Sequence[str],
    prices: Path | None,
    within: float,
    sensitivity: bool,
    command: str,
) -> CapacityQuestion:
    from reports.capacity.finding import CapacityQuestion, notes_on
    from reports.capacity.price import read_prices
    from reports.capacity.target import only_target, unit_notes

    target = only_target(targets)
    with settings.naming():
        notes = notes_on(settings)
    for note in [*unit_notes(targets), *notes]:
        say(f"note: {note}")
    priced = None if prices is None else read_prices(prices)
    return CapacityQuestion(settings, target, priced, within, sensitivity, command)


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


def _words(
    targets: Sequence[str], prices: Path | None, within: float, sensitivity: bool
) -> list[str]:
    """Return the words of a command line that ask the same of another study."""
    words = [word for target in targets for word in ("--target", target)]
    words += [] if prices is None else ["--prices", str(prices)]
    words += [] if within == 0.03 else ["--within", str(within)]
    return words if sensitivity else [*words, "--no-sensitivity"]

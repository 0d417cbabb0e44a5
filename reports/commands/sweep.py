"""`milepost sweep`: a grid of simulations, in parallel, resumable."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.groups import spread
from reports.commands.options import (
    AS_IT_SAYS,
    DryRun,
    Json,
    Percentiles,
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
from reports.commands.study_flags import NO_GRID, NO_TRAFFIC, Given, GridFlags, TrafficFlags, words
from reports.console import Progress, minutes_text, print_json, print_line, say
from simulator.base.errors import UsageError

if TYPE_CHECKING:
    from reports.execution.sweep import SweepReport

CELLS_FAILED = 4
UntilCi = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Add replications until intervals are within, as in 1%."),
]
MaxReplications = Annotated[int | None, typer.Option(help="With --until-ci; default: 100.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A dask scheduler, as in tcp://10.0.0.1:8786; its workers see the same files.",
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, max=1024, help="Processes; default: one a core.")]


@spread()
def sweep(
    study: StudyFile = None,
    traffic: TrafficFlags = NO_TRAFFIC,
    reading: TraceFlags = AS_IT_SAYS,
    requests: Requests = None,
    grid: GridFlags = NO_GRID,
    baseline: Annotated[
        str | None, typer.Option(help="The placer that others are compared with.")
    ] = None,
    warmup: Warmup = None,
    replications: Replications = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    jobs: Jobs = None,
    seed: Seed = None,
    until_ci: UntilCi = None,
    max_replications: MaxReplications = None,
    percentiles: Percentiles = None,
    cluster: Cluster = None,
    sets: Sets = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the grid and the replications of a study; write tables and a page.

    Flags replace what the study says; without one they are the study: repeat --placer, --eviction,
    --admission, --profile, and list capacities, as in --capacity 8GiB,16GiB. A sweep that was
    stopped goes on where it was: give the same study and the same --out.
    """
    refuse_jobs_beside(cluster, jobs)
    flags: Given = {
        **traffic.settings(),
        **reading.settings(),
        "--requests": ("workload.requests", requests),
        **grid.settings(),
        "--baseline": ("study.baseline", baseline),
        "--warmup": ("study.warmup", warmup),
        "--replications": ("study.replications", replications),
        "--seed": ("study.seed", seed),
        "--until-ci": ("study.until_ci", until_ci),
        "--max-replications": ("study.max_replications", max_replications),
        "--percentiles": ("study.percentiles", percentiles),
    }
    refuse_nothing_given("sweep", study, flags, sets)
    settings = settings_from(study, flags, sets)
    jobs = jobs or cores()
    if dry_run:
        from reports.execution.estimate import estimate

        with settings.naming():
            plan = estimate(settings, jobs)
        _print_estimate(plan, json)
        return
    if out is None:
        raise typer.BadParameter("--out DIR is needed", param_hint="--out")
    from reports.execution.sweep import sweep as run_sweep

    command = command_line("sweep", study, flags, sets)
    try:
        with settings.naming(), Progress(quiet=quiet or json, resumable=True) as progress:
            report = run_sweep(settings, out, jobs, command, progress, cluster)
    except KeyboardInterrupt:
        say(f"the cells done so far are kept in {out}: the same command goes on from there")
        raise
    _print_report(report, json, quiet=quiet)
    if report.failed:
        raise typer.Exit(CELLS_FAILED)


def refuse_jobs_beside(cluster: str | None, jobs: int | None) -> None:
    """Refuse processes here beside workers elsewhere."""
    if jobs is not None and cluster is not None:
        raise typer.BadParameter(
            "contradicts --cluster, whose workers are used", param_hint="--jobs"
        )


def cores() -> int:
    """Return the cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


def refuse_nothing_given(
    command: str, study: Path | None, flags: Given, sets: Sequence[str] | None
) -> None:
    """Refuse a study without a file and without a flag that says what it is."""
    if study is None and not sets and all(value is None for _, value in flags.values()):
        raise UsageError(
            f"{command}: expected STUDY.toml, or flags in its place, as in --trace FILE --placer "
            f"branch --placer adaptive --capacity 8GiB,16GiB (`milepost new` writes a study)"
        )


def command_line(
    command: str, study: Path | None, flags: Given, sets: Sequence[str] | None, *more: str
) -> str:
    """Return the command that repeats a study, without what does not change its results."""
    parts = ["milepost", command, *([] if study is None else [str(study)]), *more, *words(flags)]
    for text in sets or ():
        parts += ["--set", text]
    return shlex.join([*parts, "--out", "DIR"])


def _print_report(report: SweepReport, as_json: bool, *, quiet: bool) -> None:
    from reports.execution.sweep import describe, loads_of
    from reports.results.overload import grown_words, range_words
    from reports.study.capacities import small_capacities

    for note in small_capacities(cell.study for cell, _ in report.outcomes):
        say(f"note: {note}")
    loads = loads_of(report)
    if not (as_json or quiet) and (load_line := range_words(loads)) is not None:
        say(load_line)
    if (warning := grown_words(loads)) is not None:
        say(f"warning: {warning}")
    for cell, outcome in report.failed:
        say(f"failed: {cell.study.policy.placer}, cell {cell.identity}: {outcome.error}")
    for warning in report.warnings:
        say(f"warning: {warning}")
    if report.reached is False:
        say("the intervals are still wider than --until-ci asks, with the most replications")
    if as_json:
        print_json(describe(report))
        return
    done = len(report.outcomes) - len(report.failed)
    page = report.folder / "report.html"
    print_line(f"{done} of {len(report.outcomes)} cells done; the page: {page}")
    for sentence in report.sentences:
        print_line(sentence)


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

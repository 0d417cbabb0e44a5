"""`milepost sweep`: a grid of simulations, in parallel, resumable."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.options import (
    DryRun,
    Json,
    Percentiles,
    Quiet,
    Seed,
    Sets,
    StudyFile,
    settings_from,
)
from reports.console import Progress, print_json, print_line, say

if TYPE_CHECKING:
    from reports.running.sweep import SweepReport

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


def sweep(
    study: StudyFile,
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

    A sweep that was stopped goes on where it was: give the same study and the same --out.
    """
    refuse_jobs_beside(cluster, jobs)
    flags = {
        "--seed": ("study.seed", seed),
        "--until-ci": ("study.until_ci", until_ci),
        "--max-replications": ("study.max_replications", max_replications),
        "--percentiles": ("study.percentiles", percentiles),
    }
    settings = settings_from(study, flags, sets)
    jobs = jobs or cores()
    if dry_run:
        from reports.running.estimate import estimate

        _print_estimate(estimate(settings, jobs), json)
        return
    if out is None:
        raise typer.BadParameter("--out DIR is needed", param_hint="--out")
    from reports.running.sweep import sweep as run_sweep

    command = command_line(study, flags, sets)
    try:
        with Progress(quiet=quiet or json, resumable=True) as progress:
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


def command_line(study: Path, flags: dict[str, tuple[str, Any]], sets: Sequence[str] | None) -> str:
    """Return the command that repeats the sweep, without what does not change its results."""
    words = ["milepost", "sweep", str(study), "--out", "DIR"]
    for flag, (_, value) in flags.items():
        words += [] if value is None else [flag, str(value)]
    for text in sets or ():
        words += ["--set", text]
    return shlex.join(words)


def _print_report(report: SweepReport, as_json: bool, *, quiet: bool) -> None:
    from reports.results.overload import grown_words, range_words
    from reports.running.sweep import describe, loads_of
    from reports.study.capacities import small_capacities

    for note in small_capacities(cell.study for cell, _ in report.outcomes):
        say(f"note: {note}")
    loads = loads_of(report)
    if not (as_json or quiet) and (told := range_words(loads)) is not None:
        say(told)
    if (warning := grown_words(loads)) is not None:
        say(f"warning: {warning}")
    for cell, outcome in report.failed:
        say(f"failed: {cell.study.policy.placer}, cell {cell.identity}: {outcome.error}")
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
        f"{plan['replications']:,} replications), {plan['requests']:,} requests in all, about "
        f"{plan['minutes']:.1f} min on {plan['jobs']} processes, about "
        f"{plan['disk_bytes'] / 1e6:.1f} MB on disk"
    )

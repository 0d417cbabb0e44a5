"""`milepost sweep`: a grid of simulations, in parallel, resumable."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.options import DryRun, Json, Quiet, Seed, Sets, StudyFile, settings_from
from reports.console import Progress, print_json, print_line, say

if TYPE_CHECKING:
    from reports.study import SweepReport

CELLS_FAILED = 4
Jobs = Annotated[int | None, typer.Option(min=1, max=1024, help="Processes; default: one a core.")]


def sweep(
    study: StudyFile,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    jobs: Jobs = None,
    seed: Seed = None,
    sets: Sets = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the grid and the replications of a study; write tables and a page.

    A sweep that was stopped goes on where it was: give the same study and the same --out.
    """
    settings = settings_from(study, {"--seed": ("study.seed", seed)}, sets)
    jobs = jobs or cores()
    if dry_run:
        from reports.estimate import estimate

        _print_estimate(estimate(settings, jobs), json)
        return
    if out is None:
        raise typer.BadParameter("--out DIR is needed", param_hint="--out")
    from reports.study import sweep as run_sweep

    try:
        with Progress(quiet=quiet or json, resumable=True) as progress:
            report = run_sweep(settings, out, jobs, command_line(study, seed, sets), progress)
    except KeyboardInterrupt:
        say(f"the cells done so far are kept in {out}: the same command goes on from there")
        raise
    _print_report(report, json)
    if report.failed:
        raise typer.Exit(CELLS_FAILED)


def cores() -> int:
    """Return the cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


def command_line(study: Path, seed: int | None, sets: Sequence[str] | None) -> str:
    """Return the command that repeats the sweep, without what does not change its results."""
    words = ["milepost", "sweep", str(study), "--out", "DIR"]
    words += [] if seed is None else ["--seed", str(seed)]
    for text in sets or ():
        words += ["--set", text]
    return shlex.join(words)


def _print_report(report: SweepReport, as_json: bool) -> None:
    from reports.study import describe

    for cell, outcome in report.failed:
        say(f"failed: {cell.study.policy.placer}, cell {cell.identity}: {outcome.error}")
    if as_json:
        print_json(describe(report))
        return
    done = len(report.outcomes) - len(report.failed)
    page = report.folder / "report.html"
    print_line(f"{done} of {len(report.outcomes)} cells done; the page: {page}")


def _print_estimate(plan: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    print(
        f"{plan['cells']:,} cells ({plan['scenarios']:,} scenarios x {plan['replications']:,} "
        f"replications), {plan['requests']:,} requests in all, about {plan['minutes']:.1f} min on "
        f"{plan['jobs']} processes, about {plan['disk_bytes'] / 1e6:.1f} MB on disk"
    )

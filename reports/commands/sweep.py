"""`milepost sweep`: a grid of simulations, in parallel, resumable."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
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
from reports.commands.running import (
    CELLS_FAILED,
    Cluster,
    Jobs,
    cores,
    refuse_jobs_beside,
    running,
)
from reports.commands.study_flags import NO_GRID, NO_TRAFFIC, Given, GridFlags, TrafficFlags, words
from reports.console import minutes_text, print_json, print_line, say
from simulator.base.errors import UsageError

if TYPE_CHECKING:
    from reports.execution.sweep import SweepReport
    from reports.report import Report

UntilCi = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="Add replications until intervals are within, as in 1%."),
]
MaxReplications = Annotated[int | None, typer.Option(help="With --until-ci; default: 100.")]


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
    from reports.pages.study import kept_report
    from reports.report.store import store

    command = command_line("sweep", study, flags, sets)
    with running(settings, out, quiet=quiet or json) as progress:
        swept = run_sweep(settings, out, jobs, command, progress, cluster)
    report = kept_report(out)
    store(report, out)
    _print_swept(swept, report, as_json=json, quiet=quiet)
    if swept.failed:
        raise typer.Exit(CELLS_FAILED)


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
    """Tell on stderr what speaks against the results of a sweep."""
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

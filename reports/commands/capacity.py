"""`milepost capacity`: the least memory that meets a target."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.options import DryRun, Json, Quiet, Seed, Sets, StudyFile, settings_from
from reports.commands.sweep import CELLS_FAILED, Cluster, Jobs, cores, refuse_jobs_beside
from reports.console import Progress, print_json, say
from simulator.errors import UsageError

if TYPE_CHECKING:
    from reports.capacity.finding import Question
    from reports.study.settings import Settings

TARGET_MISSED = 99
Targets = Annotated[
    list[str],
    typer.Option("--target", metavar="METRIC<=VALUE", help="As in 'p99_ttft<=800ms'."),
]


def capacity(
    study: StudyFile,
    target: Targets,
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
    """
    refuse_jobs_beside(cluster, jobs)
    settings = settings_from(study, {"--seed": ("study.seed", seed)}, sets)
    words = _command(study, target, prices, within, sensitivity, seed, sets)
    question = _question(settings, target, prices, within, sensitivity, words)
    if dry_run:
        from reports.capacity.estimate import estimate_capacity

        _print_estimate(estimate_capacity(question, jobs or cores()), json)
        return
    if cluster is not None and out is None:
        raise UsageError("--cluster: needs --out DIR, a folder that the workers see too")
    with _folder(out) as folder:
        where = folder, jobs or cores(), cluster
        found = _find(question, *where, quiet=quiet or json, resumable=bool(out))
        if out is not None:
            from reports.capacity.page import write_capacity

            write_capacity(out, found)
    _print(found, json)
    if out is not None:
        say(f"page: {out / 'capacity.html'}")
    _leave(found)


def _question(
    settings: Settings,
    targets: Sequence[str],
    prices: Path | None,
    within: float,
    sensitivity: bool,
    command: str,
) -> Question:
    from reports.capacity.finding import Question, notes_on
    from reports.capacity.price import read_prices
    from reports.capacity.target import only_target, unit_notes

    target = only_target(targets)
    for note in [*unit_notes(targets), *notes_on(settings)]:
        say(f"note: {note}")
    priced = None if prices is None else read_prices(prices)
    return Question(settings, target, priced, within, sensitivity, command)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Return the folder to work in: the stated one, or one that goes with the process."""
    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="milepost-") as folder:
        yield Path(folder)


def _find(
    question: Question,
    folder: Path,
    jobs: int,
    cluster: str | None,
    *,
    quiet: bool,
    resumable: bool,
) -> dict[str, Any]:
    from reports.capacity.finding import find_capacity

    try:
        with Progress(quiet=quiet, resumable=resumable) as progress:
            return find_capacity(question, folder, jobs, progress, cluster)
    except KeyboardInterrupt:
        if resumable:
            say(f"the cells done so far are kept in {folder}: the same command goes on from there")
        raise


def _print_estimate(plan: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    print(
        f"{plan['combinations']:,} combinations x {plan['replications']:,} replications, "
        f"{plan['cells_at_least']:,} to {plan['cells_at_most']:,} cells as the search needs them, "
        f"{plan['requests_at_least']:,} to {plan['requests_at_most']:,} requests in all, about "
        f"{plan['minutes_at_least']:.1f} to {plan['minutes_at_most']:.1f} min on {plan['jobs']} "
        f"processes, up to {plan['disk_bytes_at_most'] / 1e6:.1f} MB on disk"
    )


def _print(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    from reports.capacity.summary import print_capacity

    print_capacity(found)


def _leave(found: dict[str, Any]) -> None:
    """Leave with the exit code of failed cells, or of a missed target."""
    from reports.capacity.finding import failed

    for answer in failed(found):
        say(f"failed: {answer['name']}: {answer['error']}")
    if failed(found):
        raise typer.Exit(CELLS_FAILED)
    if found["best"] is None:
        raise typer.Exit(TARGET_MISSED)


def _command(
    study: Path,
    targets: Sequence[str],
    prices: Path | None,
    within: float,
    sensitivity: bool,
    seed: int | None,
    sets: Sequence[str] | None,
) -> str:
    """Return the command that repeats this, without what does not change its results."""
    words = ["milepost", "capacity", str(study)]
    for target in targets:
        words += ["--target", target]
    words += [] if prices is None else ["--prices", str(prices)]
    words += [] if within == 0.03 else ["--within", str(within)]
    words += [] if sensitivity else ["--no-sensitivity"]
    words += [] if seed is None else ["--seed", str(seed)]
    for text in sets or ():
        words += ["--set", text]
    return shlex.join([*words, "--out", "DIR"])

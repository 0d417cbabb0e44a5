"""Execution of a sweep: journalled, resumable, with byte-identical results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.artifacts.journal import CellOutcome
from reports.artifacts.manifest import make_manifest
from reports.artifacts.writing import cells_table, write_artifacts
from reports.execution.runner import CellTask, Progress, Runner, Work, study_hash
from reports.execution.warmup import seen_metrics, settle
from reports.study.cells import Cell, baseline_placer, cells_of, scenario_of
from reports.study.clock import clock_warnings
from reports.study.grid import grid_of
from reports.study.rounds import first_round, most_replications, next_round
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.study.traces import (
    TraceFacts,
    counted_from,
    ideal_saved_tokens,
    open_stored,
    with_times,
)
from simulator.base.file_memory import remembered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.results.result import Result
    from simulator.simulation import Scenario
    from simulator.trace.trace import Trace

Outcomes = list[tuple[Cell, CellOutcome]]
Facts = dict[str, TraceFacts]  # by the key of the trace


@dataclass(frozen=True, slots=True)
class SweepReport:
    """Outcome of a sweep."""

    folder: Path
    outcomes: list[tuple[Cell, CellOutcome]]
    reached: bool | None = None  # whether intervals are as narrow as `until_ci` asks
    warnings: Sequence[str] = ()  # why they may not be true

    @property
    def failed(self) -> list[tuple[Cell, CellOutcome]]:
        """The cells that have no metrics."""
        return [(cell, outcome) for cell, outcome in self.outcomes if outcome.error is not None]


def sweep(
    settings: Settings,
    folder: Path,
    jobs: int,
    command: str,
    on_progress: Progress | None = None,
    cluster: str | None = None,
) -> SweepReport:
    """Run the cells of a study that are not in the journal yet, and write the results.

    Parameters
    ----------
    settings
        The study.
    folder
        The folder for traces, journal and tables.
    jobs
        The number of processes.
    command
        The command that repeats the run, shown on the page.
    on_progress
        Called with (cells done, cells) before the first cell and after each. With `until_ci`
        there may be more cells in the next round.
    cluster
        The address of a dask scheduler, whose workers are used instead of processes here.

    Raises
    ------
    UsageError, DataError
        When the study, its trace, the folder or the cluster is at fault. A cell that fails does
        not raise.
    """
    grid = grid_of(settings)
    study, cells = grid.study, cells_of(grid)
    baseline = baseline_placer(study, cells)
    with Runner(folder, study_hash(study, cells), jobs, cluster, on_progress) as runner:
        outcomes, facts = _settled(runner, cells)
        reached, replications = _reached(study, outcomes, facts, baseline), first_round(study)
        while reached is False and replications < most_replications(study):
            replications = next_round(study, replications)
            outcomes, facts = _settled(runner, cells_of(grid, replications))
            reached = _reached(study, outcomes, facts, baseline)
        write_artifacts(folder, study, outcomes, facts, baseline, command, reached)
    return SweepReport(folder, outcomes, reached, _warnings(cells, facts))


def _warnings(cells: Sequence[Cell], facts: Facts) -> list[str]:
    lists = [
        clock_warnings(c.study, facts[c.trace].name, facts[c.trace].tick_seconds) for c in cells
    ]
    return list(dict.fromkeys(warning for warnings in lists for warning in warnings))


def _settled(runner: Runner, cells: Sequence[Cell]) -> tuple[Outcomes, Facts]:
    """Return the outcome of every cell, its warm-up stated, and the facts of each trace."""
    cells = settle(cells, partial(_all_of, runner, look_at_cell))
    facts = {cell.trace: runner.task(cell).facts for cell in cells}
    return _all_of(runner, simulate_cell, cells), facts


def _all_of(runner: Runner, work: Work, cells: Sequence[Cell]) -> Outcomes:
    return list(zip(cells, runner.run(work, cells), strict=True))


def _reached(
    study: ResolvedStudy,
    outcomes: Outcomes,
    facts: Facts,
    baseline: str,
) -> bool | None:
    """Return whether the intervals are as narrow as asked; None where nothing is asked."""
    share = study.study.until_ci
    if share is None:
        return None
    from reports.execution.precision import widest
    from reports.results.comparison import compare

    manifest = make_manifest(study, outcomes, facts, baseline, "")
    return widest(compare(cells_table(outcomes), manifest)) <= share


def simulate_cell(task: CellTask) -> CellOutcome:
    """Simulate one cell."""
    from reports.results.bound import stored_bound
    from reports.results.memory import RememberedRequests, memory_requests
    from reports.results.metrics import blocks, flat_metrics
    from reports.results.positions import flat_positions

    trace, scenario, result = _replayed(task)
    warmup = task.cell.study.study.warmup_share
    first = counted_from(task.facts.requests, warmup)
    metrics = {
        **flat_metrics(result, warmup, task.cell.study.study.percentile_names),
        "ideal_saved_tokens": ideal_saved_tokens(task.trace, first),
        "bound_saved_tokens": stored_bound(task.trace, scenario, warmup),
        "memory_requests": memory_requests(RememberedRequests.of(trace, result, warmup)),
        "unbounded_kv_bytes": task.facts.tree_tokens * scenario.profile.kv_bytes_per_token,
        **blocks(result, warmup),
        **flat_positions(
            task.cell.study.policy.placer, trace, scenario, result, warmup, forks(task.trace)
        ),
    }
    return CellOutcome(task.identity, metrics)


def look_at_cell(task: CellTask) -> CellOutcome:
    """Simulate one cell only to find where its warm-up ends."""
    return CellOutcome(task.identity, seen_metrics(_replayed(task)[2]))


@remembered(maxsize=8, ours=True)
def forks(path: Path) -> NDArray[np.int64]:
    """Return when the branch points of a stored workload were first seen."""
    from reports.results.positions.forks import forks_seen

    return forks_seen(open_stored(path))


def _replayed(task: CellTask) -> tuple[Trace, Scenario, Result]:
    from simulator.simulation import simulate

    trace = with_times(open_stored(task.trace), task.cell.study, task.cell.seed)
    scenario = scenario_of(task.cell)
    return trace, scenario, simulate(trace, scenario)


def _server_json(loads: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the least and the greatest load of the cells; None for instant servers."""
    if not loads:
        return None
    names = "offered_load_nothing_saved", "offered_load", "utilisation"
    ends = {name: [load[name] for load in loads] for name in names}
    return {
        **{name: {"least": min(v), "greatest": max(v)} for name, v in ends.items()},
        "cells": len(loads),
        "cells_whose_queue_grows": sum(bool(load["queue_grows"]) for load in loads),
    }


def loads_of(report: SweepReport) -> list[dict[str, Any]]:
    """Return the load of the server of each cell that has one, as a run's summary has it."""
    from reports.results.metrics import load_of_row

    loads = [load_of_row((outcome.metrics or {}).get) for _, outcome in report.outcomes]
    return [load for load in loads if load["utilisation"] is not None]


def describe(report: SweepReport, sentences: Sequence[str]) -> dict[str, Any]:
    """Return what `sweep --json` prints; `sentences` are what the results conclude."""
    return {
        "folder": str(report.folder),
        "cells": len(report.outcomes),
        **({} if report.reached is None else {"until_ci_reached": report.reached}),
        "failed": [
            {"cell": cell.identity, "placer": cell.study.policy.placer, "error": outcome.error}
            for cell, outcome in report.failed
        ],
        "warnings": list(report.warnings),
        "sentences": list(sentences),
        "server": _server_json(loads_of(report)),
        "files": [
            "cells.parquet",
            "cells.csv",
            "manifest.json",
            "differences.json",
            "report.html",
        ],
    }

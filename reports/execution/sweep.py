"""A study from its cells to its results: journalled, resumable, the same bytes in the end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.artifacts.journal import CellOutcome, Journal
from reports.artifacts.manifest import make_manifest
from reports.artifacts.writing import cells_table, write_artifacts
from reports.execution.executors import run_tasks
from reports.execution.warmup import seen_metrics, settle
from reports.study.cells import Cell, baseline_placer, expand, refuse_unfit, scenario_of
from reports.study.clock import clock_warnings
from reports.study.rounds import first_round, most_replications, next_round
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.study.traces import (
    TraceFacts,
    counted_from,
    ideal_saved_tokens,
    open_stored,
    store_trace,
    with_times,
)
from simulator.base.file_memory import remembered
from simulator.base.files import remove_leftovers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.results.result import Result
    from simulator.simulation import Scenario
    from simulator.trace.trace import Trace

Progress = Callable[[int, int], None]
Outcomes = list[tuple[Cell, CellOutcome]]
Facts = dict[str, TraceFacts]  # by the key of the trace


@dataclass(frozen=True, slots=True)
class CellTask:
    """What a worker is given."""

    cell: Cell
    trace: Path
    facts: TraceFacts

    @property
    def identity(self) -> str:
        """The cell."""
        return self.cell.identity


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How a sweep ended."""

    folder: Path
    outcomes: list[tuple[Cell, CellOutcome]]
    reached: bool | None = None  # whether intervals are as narrow as `until_ci` asks
    sentences: Sequence[str] = ()  # what the results conclude
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
        Where traces, journal, tables and page go.
    jobs
        Processes.
    command
        How a reader may repeat this, for the page.
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
    study, cells = expand(settings)
    baseline = baseline_placer(study, cells)
    with Journal(folder, study_hash(study, cells)) as journal:
        run = _Run(journal, folder, jobs, cluster, on_progress)
        outcomes, facts = run.settled(cells)
        reached, replications = _reached(study, outcomes, facts, baseline), first_round(study)
        while reached is False and replications < most_replications(study):
            replications = next_round(study, replications)
            outcomes, facts = run.settled(expand(settings, replications)[1])
            reached = _reached(study, outcomes, facts, baseline)
        sentences = write_artifacts(folder, study, outcomes, facts, baseline, command, reached)
    return SweepReport(folder, outcomes, reached, sentences, _warnings(cells, facts))


def _warnings(cells: Sequence[Cell], facts: Facts) -> list[str]:
    lists = [
        clock_warnings(c.study, facts[c.trace].name, facts[c.trace].tick_seconds) for c in cells
    ]
    return list(dict.fromkeys(warning for warnings in lists for warning in warnings))


@dataclass(frozen=True, slots=True)
class _Run:
    """Where cells are kept, and where they are computed."""

    journal: Journal
    folder: Path
    jobs: int
    cluster: str | None
    on_progress: Progress | None

    def settled(self, cells: Sequence[Cell]) -> tuple[Outcomes, Facts]:
        """Return the outcome of every cell, its warm-up stated, and the facts of each trace."""
        facts: Facts = {}
        cells = settle(cells, lambda seen: self._all_of(seen, look_at_cell, facts))
        return self._all_of(cells, simulate_cell, facts), facts

    def _all_of(
        self, cells: Sequence[Cell], simulate: Callable[[CellTask], CellOutcome], facts: Facts
    ) -> Outcomes:
        """Return the outcome of every cell, those of the journal as they are."""
        tasks = _prepare(cells, self.folder / "traces")
        facts |= {task.cell.trace: task.facts for task in tasks}
        done = _stored(self.journal, cells)
        missing = [task for task in tasks if task.identity not in done]
        self._tell(len(done), len(cells))
        for outcome in run_tasks(simulate, missing, self.jobs, self.cluster):
            self.journal.write(outcome)
            done[outcome.cell] = outcome
            self._tell(len(done), len(cells))
        return [(cell, done[cell.identity]) for cell in cells]

    def _tell(self, done: int, cells: int) -> None:
        if self.on_progress is not None:
            self.on_progress(done, cells)


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
    from reports.results.bound import all_served, stored_bound
    from reports.results.memory import RememberedRequests, memory_requests
    from reports.results.metrics import blocks, flat_metrics
    from reports.results.positions import flat_positions

    trace, scenario, result = _replayed(task)
    warmup = task.cell.study.study.warmup_share
    bound = stored_bound(task.trace, scenario, warmup) if all_served(result) else None
    first = counted_from(task.facts.requests, warmup)
    metrics = {
        **flat_metrics(result, warmup, task.cell.study.study.percentile_names),
        "ideal_saved_tokens": ideal_saved_tokens(task.trace, first),
        "bound_saved_tokens": bound,
        "memory_requests": memory_requests(RememberedRequests.of(trace, result, warmup)),
        "unbounded_kv_bytes": task.facts.tree_tokens * scenario.profile.kv_bytes_per_token,
        **blocks(result, warmup),
        **flat_positions(
            task.cell.study.policy.placer, trace, scenario, result, warmup, forks(task.trace)
        ),
    }
    return CellOutcome(task.identity, metrics)


def look_at_cell(task: CellTask) -> CellOutcome:
    """Simulate one cell only to see where it settles."""
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


def study_hash(study: ResolvedStudy, cells: Sequence[Cell]) -> str:
    """Return the hash that binds an output folder to a study."""
    evidence = study.study.model_dump()
    for key in ("until_ci", "max_replications", "percentiles"):  # absent from older folders
        if evidence[key] is None:
            del evidence[key]
    for key in ("margin_points", "margin_times"):  # what is said of the results, not they
        del evidence[key]
    parts = [study.title, evidence, [cell.identity for cell in cells]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _prepare(cells: Sequence[Cell], folder: Path) -> list[CellTask]:
    """Store each workload once."""
    remove_leftovers(folder)
    folder = folder.resolve()  # workers elsewhere may stand in another folder
    stored: dict[str, tuple[Path, TraceFacts]] = {}
    for cell in cells:
        if cell.trace not in stored:
            stored[cell.trace] = store_trace(cell.study, cell.seed, folder)
        facts = stored[cell.trace][1]
        refuse_unfit(cell.study, facts.name, has_arrivals=facts.has_arrivals)
    return [CellTask(cell, *stored[cell.trace]) for cell in cells]


def _stored(journal: Journal, cells: Sequence[Cell]) -> dict[str, CellOutcome]:
    """Return the sound outcomes; a cell that failed is tried again."""
    outcomes = (journal.read(cell.identity) for cell in cells)
    return {outcome.cell: outcome for outcome in outcomes if outcome and outcome.error is None}


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


def describe(report: SweepReport) -> dict[str, Any]:
    """Return what `sweep --json` prints."""
    return {
        "folder": str(report.folder),
        "cells": len(report.outcomes),
        **({} if report.reached is None else {"until_ci_reached": report.reached}),
        "failed": [
            {"cell": cell.identity, "placer": cell.study.policy.placer, "error": outcome.error}
            for cell, outcome in report.failed
        ],
        "warnings": list(report.warnings),
        "sentences": list(report.sentences),
        "server": _server_json(loads_of(report)),
        "files": [
            "cells.parquet",
            "cells.csv",
            "manifest.json",
            "differences.json",
            "report.html",
        ],
    }

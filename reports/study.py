"""A study from its cells to its results: journalled, resumable, the same bytes in the end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.artefacts import write_artefacts
from reports.cells import Cell, baseline_placer, expand, refuse_unfit
from reports.executors import run_tasks
from reports.journal import Journal, Outcome
from reports.settings import Settings
from reports.study_file import Study
from reports.traces import TraceFacts, open_stored, store_trace, with_times

Progress = Callable[[int, int], None]


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
    outcomes: list[tuple[Cell, Outcome]]

    @property
    def failed(self) -> list[tuple[Cell, Outcome]]:
        """The cells that have no metrics."""
        return [(cell, outcome) for cell, outcome in self.outcomes if outcome.error is not None]


def sweep(
    settings: Settings,
    folder: Path,
    jobs: int,
    command: str,
    on_progress: Progress | None = None,
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
        Called with (cells done, cells) before the first cell and after each.

    Raises
    ------
    UsageError, DataError
        When the study, its trace or the folder is at fault. A cell that fails does not raise.
    """
    study, cells = expand(settings)
    baseline = baseline_placer(study, cells)
    with Journal(folder, study_hash(study, cells)) as journal:
        tasks = _prepare(cells, folder / "traces")
        done = _stored(journal, cells)
        missing = [task for task in tasks if task.identity not in done]
        _report(on_progress, len(done), len(cells))
        for outcome in run_tasks(simulate_cell, missing, jobs):
            journal.write(outcome)
            done[outcome.cell] = outcome
            _report(on_progress, len(done), len(cells))
        outcomes = [(cell, done[cell.identity]) for cell in cells]
        write_artefacts(folder, study, outcomes, tasks[0].facts, baseline, command)
    return SweepReport(folder, outcomes)


def simulate_cell(task: CellTask) -> Outcome:
    """Simulate one cell."""
    from reports.bound import all_served, stored_bound
    from reports.metrics import blocks, flat_metrics
    from reports.scenario import build_scenario
    from simulator.simulation import simulate

    study, facts = task.cell.study, task.facts
    trace = with_times(open_stored(task.trace), study, task.cell.seed)
    scenario = build_scenario(study, draw=task.cell.draw)
    result = simulate(trace, scenario)
    warmup = study.study.warmup
    bound = stored_bound(task.trace, scenario, warmup) if all_served(result) else None
    metrics = {
        **flat_metrics(result, warmup),
        "ideal_saved_tokens": facts.ideal_saved_tokens,
        "bound_saved_tokens": bound,
        "unbounded_kv_bytes": facts.tree_tokens * scenario.profile.kv_bytes_per_token,
        **blocks(result, warmup),
    }
    return Outcome(task.identity, metrics)


def study_hash(study: Study, cells: Sequence[Cell]) -> str:
    """Return the hash that binds an output folder to a study."""
    parts = [study.title, study.study.model_dump(), [cell.identity for cell in cells]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _prepare(cells: Sequence[Cell], folder: Path) -> list[CellTask]:
    """Store each workload once."""
    stored: dict[str, tuple[Path, TraceFacts]] = {}
    for cell in cells:
        if cell.trace not in stored:
            stored[cell.trace] = store_trace(cell.study, cell.seed, folder)
        facts = stored[cell.trace][1]
        refuse_unfit(cell.study, facts.name, has_arrivals=facts.has_arrivals)
    return [CellTask(cell, *stored[cell.trace]) for cell in cells]


def _stored(journal: Journal, cells: Sequence[Cell]) -> dict[str, Outcome]:
    """Return the sound outcomes; a cell that failed is tried again."""
    found = (journal.read(cell.identity) for cell in cells)
    return {outcome.cell: outcome for outcome in found if outcome and outcome.error is None}


def _report(on_progress: Progress | None, done: int, cells: int) -> None:
    if on_progress is not None:
        on_progress(done, cells)


def describe(report: SweepReport) -> dict[str, Any]:
    """Return what `sweep --json` prints."""
    return {
        "folder": str(report.folder),
        "cells": len(report.outcomes),
        "failed": [
            {"cell": cell.identity, "placer": cell.study.policy.placer, "error": outcome.error}
            for cell, outcome in report.failed
        ],
        "files": ["cells.parquet", "manifest.json", "report.html"],
    }

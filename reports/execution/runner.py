"""Runner of cells (simulations): journalled, resumable, parallel, in the order asked for.

Sweeps, capacity searches and drift studies all run their cells here. Workloads are stored once, and
workers open them by path. An outcome is computed only where the journal has none, and nothing of it
depends on how many workers there are, or on where an earlier run was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reports.artifacts.journal import CellOutcome, Journal
from reports.execution.executors import run_tasks
from reports.files import digest
from reports.study.cells import Cell, refuse_unfit
from reports.study.sections import ResolvedStudy
from reports.study.traces import TraceFacts, store_trace
from simulator.base.errors import UsageError
from simulator.base.files import remove_leftovers

# Measured on two shared cores: a simulation with clock, cache and records, and a worker's start.
REQUESTS_PER_SECOND = 15_000
START_SECONDS = 2.0

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CellTask:
    """A task for a worker: a cell and its workload."""

    cell: Cell
    trace: Path
    facts: TraceFacts

    @property
    def identity(self) -> str:
        """The cell."""
        return self.cell.identity


Work = Callable[[CellTask], CellOutcome]


class Runner:
    """Runs cells, and keeps their outcomes in the journal of a folder; a context manager.

    Parameters
    ----------
    folder
        For workloads and journal, created where it is missing; None for one that goes with this
        process.
    study
        The hash that binds the folder to what is run in it.
    jobs
        Processes.
    cluster
        The address of a dask scheduler, whose workers are used instead of processes here.
    on_progress
        Called with (cells done, cells wanted so far), of one kind of work, before the first cell
        and after each.
    alone
        Whether this process does by itself what workers would take longer to start for.
    results
        Files of earlier results by which the folder is known to be ours, too.

    Raises
    ------
    UsageError, DataError
        As `Journal`.
    """

    def __init__(
        self,
        folder: Path | None,
        study: str,
        jobs: int,
        cluster: str | None = None,
        on_progress: Progress | None = None,
        *,
        alone: bool = False,
        results: Collection[str] = (),
    ) -> None:
        if folder is None and cluster is not None:
            raise UsageError("--cluster: needs --out DIR, a folder that the workers see too")
        self._open = ExitStack()
        if folder is None:
            folder = Path(self._open.enter_context(TemporaryDirectory(prefix="milepost-")))
        self._journal = self._open.enter_context(Journal(folder, study, results))
        self.folder = folder
        self._traces = (folder / "traces").resolve()  # workers may stand in another folder
        self._jobs, self._cluster, self._alone = jobs, cluster, alone
        self._on_progress = on_progress or (lambda done, wanted: None)
        self._stored: dict[str, tuple[Path, TraceFacts]] = {}
        self._outcomes: dict[Work, dict[str, CellOutcome]] = {}

    def __enter__(self) -> Runner:
        remove_leftovers(self._traces)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def cells(self) -> int:
        """Number of cells that have an outcome."""
        return sum(map(len, self._outcomes.values()))

    def task(self, cell: Cell) -> CellTask:
        """Return a cell with its workload, which is stored where it is not yet.

        Raises
        ------
        UsageError, DataError
            Where the workload cannot be had, or does not have what the study asks of it.
        """
        if cell.trace not in self._stored:
            self._stored[cell.trace] = store_trace(cell.study, cell.seed, self._traces)
        path, facts = self._stored[cell.trace]
        refuse_unfit(cell.study, facts.name, has_arrivals=facts.has_arrivals)
        return CellTask(cell, path, facts)

    def run(self, work: Work, cells: Sequence[Cell]) -> list[CellOutcome]:
        """Return the outcome of every cell; one that failed in an earlier run is tried again.

        Parameters
        ----------
        work
            A function of a module (it is pickled by name), or a partial of one.
        cells
            Cells of any rounds; those that have an outcome already keep it.

        Raises
        ------
        UsageError, DataError
            As `task`; or where a folder or the cluster is at fault. What fails within a cell is
            its outcome.
        """
        done = self._outcomes.setdefault(work, {})
        tasks = {cell.identity: self.task(cell) for cell in cells}
        done |= self._kept(tasks.keys() - done.keys())
        missing = [task for identity, task in tasks.items() if identity not in done]
        wanted = len(done) + len(missing)
        self._on_progress(len(done), wanted)
        for outcome in run_tasks(work, missing, self._workers(missing), self._cluster):
            self._journal.write(outcome)
            done[outcome.cell] = outcome
            self._on_progress(len(done), wanted)
        return [done[cell.identity] for cell in cells]

    def _kept(self, identities: Collection[str]) -> dict[str, CellOutcome]:
        """Return the sound outcomes of an earlier run; a cell that failed is tried again."""
        kept = map(self._journal.read, sorted(identities))
        return {each.cell: each for each in kept if each is not None and each.error is None}

    def _workers(self, tasks: Sequence[CellTask]) -> int:
        """Return the number of processes that is worth starting."""
        seconds = sum(task.facts.requests for task in tasks) / REQUESTS_PER_SECOND
        return 1 if self._alone and seconds < START_SECONDS else self._jobs


def study_hash(study: ResolvedStudy, cells: Sequence[Cell], *kind: Any) -> str:
    """Return the hash that binds a folder to a study, and to what of another `kind` is asked of it.

    Settings that only affect how results are presented do not change it.
    """
    evidence = study.study.model_dump(exclude={"margin_points", "margin_times"})
    for key in ("until_ci", "max_replications", "percentiles"):  # absent from older folders
        if evidence[key] is None:
            del evidence[key]
    parts = [*kind, study.title, evidence, [cell.identity for cell in cells]]
    return digest(parts, compact=False)

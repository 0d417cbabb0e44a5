"""Where cells are simulated: workloads stored once, results journalled, searches in step.

All searches advance together, a round at a time: what they want is simulated in parallel, what is
in the journal is not simulated again. A search sees only its own trials, so that nothing depends on
how many processes there are, or on where an earlier run was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from reports.artifacts.journal import CellOutcome, Journal
from reports.capacity.candidates import Candidate
from reports.capacity.evidence import Trial, judge
from reports.capacity.measures import CapacityTask, capacity_cell, refuse_few
from reports.capacity.price import Prices
from reports.capacity.search import Search, SearchResult
from reports.capacity.target import Target
from reports.execution.estimate import REQUESTS_PER_SECOND, START_SECONDS
from reports.execution.executors import run_tasks
from reports.study.cells import Cell, refuse_unfit
from reports.study.traces import TraceFacts, store_trace

Progress = Callable[[int, int], None]
Key = TypeVar("Key")


class Workshop:
    """Simulates cells for one target.

    Parameters
    ----------
    folder
        Where workloads are stored.
    journal
        Keeps what was simulated.
    target, prices
        What cells measure.
    jobs
        Processes.
    on_progress
        Called with (cells done, cells wanted so far).
    cluster
        The address of a dask scheduler, whose workers are used instead of processes here.
    """

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        target: Target,
        prices: Prices | None,
        jobs: int,
        on_progress: Progress | None = None,
        cluster: str | None = None,
    ) -> None:
        self._folder = (folder / "traces").resolve()  # workers may stand in another folder
        self._cluster = cluster
        self._journal = journal
        self._target = target
        self._prices = prices
        self._jobs = jobs
        self._on_progress = on_progress or (lambda done, wanted: None)
        self._stored: dict[str, tuple[Path, TraceFacts]] = {}
        self._outcomes: dict[str, CellOutcome] = {}

    @property
    def cells(self) -> int:
        """How many cells have an outcome."""
        return len(self._outcomes)

    def facts(self, cells: Sequence[Cell]) -> list[TraceFacts]:
        """Return the facts of the workload of each cell, storing those that are not yet."""
        return [self.stored(cell)[1] for cell in cells]

    def stored(self, cell: Cell) -> tuple[Path, TraceFacts]:
        """Return where the workload of a cell is stored, and its facts."""
        if cell.trace not in self._stored:
            self._stored[cell.trace] = store_trace(cell.study, cell.seed, self._folder)
        path, facts = self._stored[cell.trace]
        refuse_unfit(cell.study, facts.name, has_arrivals=facts.has_arrivals)
        left_out = int(facts.requests * cell.study.study.warmup_share)
        refuse_few(self._target, facts.requests - left_out)
        return path, facts

    def run(
        self, searches: Mapping[Key, tuple[Candidate, Search]]
    ) -> dict[Key, SearchResult | str]:
        """Advance all searches to their ends; one whose cell fails ends with the error."""
        ends: dict[Key, SearchResult | str] = {}
        wanted = {key: next(search) for key, (_, search) in searches.items()}
        while wanted:
            cells = {
                key: {capacity: searches[key][0].at(capacity) for capacity in capacities}
                for key, capacities in wanted.items()
            }
            self._simulate([c for sizes in cells.values() for same in sizes.values() for c in same])
            wanted = {}
            for key, sizes in cells.items():
                candidate, search = searches[key]
                tried = self._trials(candidate, sizes)
                if isinstance(tried, str):
                    ends[key] = tried
                    continue
                try:
                    wanted[key] = search.send(tried)
                except StopIteration as ended:
                    ends[key] = ended.value
        return ends

    def bounds(self, candidates: Sequence[Candidate]) -> list[Trial | str]:
        """Return what each would do with a cache that saves all there is, or the error of a cell.

        Such a trial has no capacity of its own.
        """
        cells = [candidate.saving_all() for candidate in candidates]
        self._simulate([cell for own in cells for cell in own])
        trials = [self._trials(one, {0: own}) for one, own in zip(candidates, cells, strict=True)]
        return [trial if isinstance(trial, str) else trial[0] for trial in trials]

    def _simulate(self, cells: Sequence[Cell]) -> None:
        """Make sure that every cell has an outcome; one that failed before is tried again."""
        fresh = {cell.identity: cell for cell in cells if cell.identity not in self._outcomes}
        for identity in fresh:
            known = self._journal.read(identity)
            if known is not None and known.error is None:
                self._outcomes[identity] = known
        missing = [cell for identity, cell in fresh.items() if identity not in self._outcomes]
        total = len(self._outcomes) + len(missing)
        self._on_progress(len(self._outcomes), total)
        tasks = [self._task(cell) for cell in missing]
        where = self._processes(missing), self._cluster
        for outcome in run_tasks(capacity_cell, tasks, *where):
            self._journal.write(outcome)
            self._outcomes[outcome.cell] = outcome
            self._on_progress(len(self._outcomes), total)

    def _processes(self, cells: Sequence[Cell]) -> int:
        """Return how many processes pay: workers take longer to start than a small round takes."""
        requests = sum(self.stored(cell)[1].requests for cell in cells)
        small = requests / REQUESTS_PER_SECOND < START_SECONDS
        return 1 if small else min(self._jobs, len(cells))

    def _task(self, cell: Cell) -> CapacityTask:
        return CapacityTask(cell, self.stored(cell)[0], self._target, self._prices)

    def _trials(
        self, candidate: Candidate, sizes: Mapping[int, Sequence[Cell]]
    ) -> dict[int, Trial] | str:
        trials = {}
        for capacity, cells in sizes.items():
            outcomes = [self._outcomes[cell.identity] for cell in cells]
            error = next((outcome.error for outcome in outcomes if outcome.error), None)
            if error is not None:
                return error
            rows = [outcome.metrics or {} for outcome in outcomes]
            trials[capacity] = judge(capacity, rows, self._target, drawn=candidate.drawn)
        return trials

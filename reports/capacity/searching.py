"""Parallel searches for several candidates, on the study's grid or on a shared one.

All advance together, a round at a time, and what they want in a round is run in parallel. A search
sees only its own trials, so that nothing depends on how many processes there are, or on where an
earlier run was stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from reports.artifacts.journal import CellOutcome
from reports.capacity.answering import answer_of
from reports.capacity.answers import Answer
from reports.capacity.candidates import Candidate, coarse_grid, ends_of
from reports.capacity.evidence import Trial, judge
from reports.capacity.measures import capacity_cell, refuse_few
from reports.capacity.price import Prices
from reports.capacity.search import Search, SearchResult, search
from reports.capacity.target import Target
from reports.execution.runner import CellTask, Runner
from reports.study.cells import Cell
from reports.study.traces import TraceFacts, counted_from

Ends = list[SearchResult | str]  # how searches end, or the error of a cell


class Searching:
    """All searches of a capacity question, one for each candidate.

    Parameters
    ----------
    runner
        Simulates the cells.
    target, prices, within
        The parameters of the same names of `CapacityQuestion`.
    stated
        The capacities of the study's grid.
    """

    def __init__(
        self,
        runner: Runner,
        target: Target,
        prices: Prices | None,
        within: float,
        stated: Sequence[int | None],
    ) -> None:
        self.runner, self.target = runner, target
        self._prices, self._within, self._stated = prices, within, stated
        self._work = partial(capacity_cell, target=target, prices=prices)

    def facts(self, cells: Sequence[Cell]) -> list[TraceFacts]:
        """Return the facts of the workload of each cell, storing those that are not yet."""
        return [self.task(cell).facts for cell in cells]

    def task(self, cell: Cell) -> CellTask:
        """Return a cell with its workload, of which enough requests count for the target."""
        task = self.runner.task(cell)
        requests = task.facts.requests
        refuse_few(self.target, requests - counted_from(requests, cell.study.study.warmup_share))
        return task

    def results(self, sought: Sequence[Candidate], also: Sequence[int] = ()) -> Ends:
        """Return how the search for each candidate ends, or the error of a cell.

        Each begins with its own grid and the capacities `also`, and extends that where the ends do
        not hold the answer.
        """
        searches = []
        for candidate in sought:
            facts = self.facts(candidate.cells)
            grid = candidate.fitting([*coarse_grid(candidate, facts, self._stated), *also])
            ends = ends_of(candidate, facts)
            searches.append(search(grid, self.target, self._within, ends))
        return self._ended(sought, searches)

    def results_on(self, sought: Sequence[Candidate], grid: Sequence[int]) -> Ends:
        """Return the search results of candidates that all use one grid, which is not extended.

        But for the capacities that the states of a candidate alone exceed.
        """
        own = [candidate.fitting(grid) for candidate in sought]
        return self._ended(sought, [search(each, self.target, self._within) for each in own])

    def answers(self, sought: Sequence[Candidate], results: Ends) -> list[Answer]:
        """Return the answer for each candidate."""
        return [answer_of(c, end, self._prices) for c, end in zip(sought, results, strict=True)]

    def bounds(self, sought: Sequence[Candidate]) -> list[Trial | str]:
        """Return each candidate's trial on a cache that saves everything, or the error of a cell.

        Such a trial has no capacity of its own.
        """
        tried = self._trials([(one, {0: one.saving_all()}) for one in sought])
        return [trials if isinstance(trials, str) else trials[0] for trials in tried]

    def _ended(self, sought: Sequence[Candidate], searches: Sequence[Search]) -> Ends:
        """Advance all searches to their ends; one whose cell fails ends with the error."""
        ends: dict[int, SearchResult | str] = {}
        wanted = {number: next(each) for number, each in enumerate(searches)}
        while wanted:
            cells = [(sought[n], {size: sought[n].at(size) for size in wanted[n]}) for n in wanted]
            for number, tried in zip([*wanted], self._trials(cells), strict=True):
                del wanted[number]
                if isinstance(tried, str):
                    ends[number] = tried
                    continue
                try:
                    wanted[number] = searches[number].send(tried)
                except StopIteration as ended:
                    ends[number] = ended.value
        return [ends[number] for number in range(len(sought))]

    def _trials(
        self, wanted: Sequence[tuple[Candidate, Mapping[int, Sequence[Cell]]]]
    ) -> list[dict[int, Trial] | str]:
        """Return the trials of each candidate at its capacities, or the error of a cell."""
        cells = [cell for _, sizes in wanted for same in sizes.values() for cell in same]
        _ = self.facts(cells)  # refuses traces that are too short, before any is replayed
        known = {outcome.cell: outcome for outcome in self.runner.run(self._work, cells)}
        return [self._judged(candidate, sizes, known) for candidate, sizes in wanted]

    def _judged(
        self,
        candidate: Candidate,
        sizes: Mapping[int, Sequence[Cell]],
        known: Mapping[str, CellOutcome],
    ) -> dict[int, Trial] | str:
        trials = {}
        for capacity, cells in sizes.items():
            outcomes = [known[cell.identity] for cell in cells]
            error = next((outcome.error for outcome in outcomes if outcome.error), None)
            if error is not None:
                return error
            rows = [outcome.metrics or {} for outcome in outcomes]
            trials[capacity] = judge(capacity, rows, self.target, drawn=candidate.drawn)
        return trials

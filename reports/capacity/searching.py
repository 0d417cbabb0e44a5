"""Searches for several candidates in step, on the study's grid or on one that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.capacity.answering import answer_of
from reports.capacity.answers import Answer
from reports.capacity.candidates import Candidate, coarse_grid, ends_of
from reports.capacity.price import Prices
from reports.capacity.search import Search, SearchResult, search
from reports.capacity.target import Target
from reports.capacity.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Searching:
    """The part that all searches of a question share.

    Parameters
    ----------
    workshop
        Where cells are simulated.
    target, prices, within
        As in the question.
    stated
        The capacities of the study's grid.
    """

    workshop: Workshop
    target: Target
    prices: Prices | None
    within: float
    stated: Sequence[int | None]

    def results(
        self, sought: Sequence[Candidate], also: Sequence[int] = ()
    ) -> list[SearchResult | str]:
        """Return how the search for each candidate ends, or the error of a cell.

        Each begins with its own grid and the capacities `also`, and extends that where the ends do
        not hold the answer.
        """
        facts = [self.workshop.facts(candidate.cells) for candidate in sought]
        grids = [
            candidate.fitting([*coarse_grid(candidate, own, self.stated), *also])
            for candidate, own in zip(sought, facts, strict=True)
        ]
        ends = [ends_of(candidate, own) for candidate, own in zip(sought, facts, strict=True)]
        searches = {
            number: (candidate, search(grids[number], self.target, self.within, ends[number]))
            for number, candidate in enumerate(sought)
        }
        return self._ended(searches)

    def results_on(
        self, sought: Sequence[Candidate], grid: Sequence[int]
    ) -> list[SearchResult | str]:
        """Return the same, each on the very same grid, which is not extended.

        But for the capacities that the states of a candidate alone exceed.
        """
        return self._ended(
            {
                number: (candidate, search(candidate.fitting(grid), self.target, self.within))
                for number, candidate in enumerate(sought)
            }
        )

    def answers(
        self, sought: Sequence[Candidate], results: Sequence[SearchResult | str]
    ) -> list[Answer]:
        """Return the answer for each candidate."""
        return [answer_of(c, end, self.prices) for c, end in zip(sought, results, strict=True)]

    def _ended(self, searches: dict[int, tuple[Candidate, Search]]) -> list[SearchResult | str]:
        ends = self.workshop.run(searches)
        return [ends[number] for number in searches]

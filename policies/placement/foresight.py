"""A predicted law beside a plain one, and the choice of that whose plans save more."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from policies.estimation.base import same
from policies.estimation.contest import Contest
from policies.placement.views import LawView, PlannedPrompt
from simulator.plugins.protocols import Law, Overlap

BLOCK = 10  # overlaps whose savings are compared at once
FADE, ERRORS, LEAST = 0.99, 1.64, 10.0  # of the contest


class ForesightView:
    """Plans for a predicted law where that has saved more than to plan for the plain one.

    Both plan for each overlap before they learn it. The predicted law is used while its mean lead
    in saved tokens, over blocks of ten overlaps in which the two differ, exceeds 1.64 standard
    errors: so that it loses nothing but chance where it predicts badly.

    Parameters
    ----------
    plain, predicted
        The two laws, in the same coordinate.
    budget
        Checkpoints of a whole prefix.
    """

    def __init__(self, plain: LawView, predicted: LawView, budget: int) -> None:
        self.coordinate = plain.coordinate
        self._plain = plain
        self._predicted = predicted
        self._used = plain
        self._budget = budget
        self._contest = Contest(1, FADE, ERRORS, LEAST)
        self._differ = False
        self._overlaps = 0
        self._lead_tokens = 0

    @property
    def law(self) -> Law:
        """The law last settled of the view that is used."""
        return self._used.law

    @property
    def known(self) -> bool:
        """Whether an overlap was seen before the law was settled."""
        return self._plain.known

    @property
    def foresees(self) -> bool:
        """Whether the predicted law is used."""
        return self._used is self._predicted

    def judge(self, target: PlannedPrompt, depth: int) -> None:
        """Compare what both plans save of an overlap of `depth` tokens that neither has learned."""
        if self._differ:
            self._lead_tokens += saved_tokens(self._predicted, target, self._budget, depth)
            self._lead_tokens -= saved_tokens(self._plain, target, self._budget, depth)
        self._overlaps += 1
        if self._overlaps % BLOCK == 0:
            if self._lead_tokens:
                self._contest.score(np.array([float(self._lead_tokens)]))
            self._lead_tokens = 0

    def observe(self, overlap: Overlap) -> None:
        """Learn from an overlap; plans stay as they are."""
        self._plain.observe(overlap)
        self._predicted.observe(overlap)

    def settle(self) -> None:
        """Use the laws as they are now for all later plans, and choose one of them."""
        self._plain.settle()
        self._predicted.settle()
        self._differ = not same(self._plain.law, self._predicted.law)
        trusted = self._differ and self._contest.winner() is not None
        self._used = self._predicted if trusted else self._plain

    def law_from_start(self, target: PlannedPrompt) -> Law:
        """Return the law of the view that is used, its depths counted from the start."""
        return self._used.law_from_start(target)

    def positions(self, target: PlannedPrompt, budget: int) -> list[int]:
        """Return positions for the whole prompt, from its start: ascending, at most `budget`."""
        return self._used.positions(target, budget)


def saved_tokens(
    view: LawView | ForesightView, target: PlannedPrompt, budget: int, depth: int
) -> int:
    """Return the deepest position of a view's plan that an overlap of `depth` reaches, or 0."""
    positions = view.positions(target, budget)
    reached = bisect_right(positions, depth)
    return positions[reached - 1] if reached else 0

"""The published method, reproduced exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar

from policies.estimation.decay import Decay
from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from policies.placement.retention import best_for, best_for_uniform
from policies.placement.staircase import solve
from simulator.plugins.protocols import Law, Overlap, Prefix, Window

BIN_TOKENS = 64
DECAY = 0.99
REPLAN_REQUESTS = 10


class Published(BasePlacer):
    """Reproduce the published method exactly, as a baseline.

    One histogram of *absolute* overlap depths, pooled over all prompts, in bins of 64 tokens
    (counted at their lower edge), decayed by .99 a request, with misses as depth 0. It is solved
    exactly every 10 requests; the one list of positions is cut at each prompt's length, so that
    short prompts get fewer than `budget`. Before the first plan the spacing is L // (budget + 1),
    the remainder left in the last gap.

    Parameters
    ----------
    budget
        Checkpoints, 1 or more.

    Source: arXiv 2605.05219, with the constants of the authors' code.

    Examples
    --------
    Overlaps of 200 and 700 tokens count as 192 and 640, the lower edges of their bins:

    >>> from policies.tryout import planned
    >>> planned("published:budget=2", prompt_tokens=900, overlaps=[200, 700] * 5)
    [192, 640]
    >>> planned("published:budget=3", prompt_tokens=10)  # the first plan
    [2, 4, 6]
    """

    observes: ClassVar[bool] = True

    def __init__(self, budget: int) -> None:
        require_at_least("budget", budget, 1)
        self._budget = budget
        self._estimator = Decay(DECAY)
        self._requests = 0
        self._positions: list[int] | None = None
        self._law: Law | None = None  # that of the plan

    def observe(self, overlap: Overlap) -> None:
        """Count the bin of an overlap, and plan again after every tenth."""
        depth = min(overlap.depth, overlap.prompt_tokens)
        binned = depth - depth % BIN_TOKENS
        self._estimator.observe(Overlap(binned, overlap.prompt_tokens))
        self._requests += 1
        if self._requests % REPLAN_REQUESTS == 0:
            law = self._law = self._estimator.law()
            self._positions = solve(law.depths, law.weights, self._budget).positions()

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the planned positions up to the prompt's length, behind the resume point."""
        length, positions = prefix.prompt_tokens, self._positions
        if positions is None:
            spacing = max(1, length // (self._budget + 1))
            stop = min(self._budget * spacing, length)
            positions = list(range(spacing, stop + 1, spacing))
        return positions[bisect_right(positions, prefix.resume) : bisect_right(positions, length)]

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Keep what saves most under the law of the plan; before the first, of a uniform law.

        The publication has no such rule: an entry of its cache gets its states at once.
        """
        law = self._law
        if law is None:
            return best_for_uniform(states, wanted, most, prefix.prompt_tokens)
        return best_for(law.depths, law.weights, states, wanted, most)

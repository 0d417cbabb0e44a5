"""One rule for all traffic: the checkpoints whose expected saving exceeds their price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from policies.parameters import require
from policies.placement.adaptive_rule import AdaptiveRule
from policies.placement.base import BasePlacer
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix, Window


class Adaptive(BasePlacer):
    """Learn where prompts return, and write the checkpoints that are worth their price.

    Candidates are the points that prompts are known to return to (where they diverged, or
    ended), the end of the prompt, and one point where a second prompt may leave this one, by the
    law of such divergences in its sharpest coordinate. How often each kind of point is used
    again is counted for every request, whether or not a state was there, so that nothing has to
    be tried out; a use that the cache could not have served, its KV being gone, does not count.
    From the expected uses the set with the greatest saving less its price follows exactly.

    Parameters
    ----------
    rate
        New checkpoints a request, on average, at most; above 0.

    Source: this project; docs/placement.md, section 8, has its measurements.
    """

    observes: ClassVar[bool] = True

    def __init__(self, rate: float = 1.0) -> None:
        require(0 < rate <= 1e6, "rate", "above 0 and at most 1000000", rate)
        self._rule = AdaptiveRule(rate)

    def begin(self, context: CacheContext) -> None:
        """Get to know costs, bytes and where checkpoints may lie."""
        self._rule.begin(context)

    def coordinate(self, label: int = -1) -> str:
        """Return the coordinate in which divergences inside prompts of a label are sharpest."""
        return self._rule.coordinate(label)

    def observe(self, overlap: Overlap) -> None:
        """Count how the request met earlier ones, and what it has added."""
        self._rule.observe(overlap)

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the candidates that are worth their price."""
        return self._rule.place(prefix)

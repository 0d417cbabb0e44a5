"""What the placers share that plan for a learned law."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar

from policies.estimation import CountingEstimator, Decay, Frozen, Window
from policies.estimation.change import ChangeDetector
from policies.parameters import require, require_at_least
from policies.placement.balanced import balanced_positions
from policies.placement.base import BasePlacer
from simulator.protocols import Law, Overlap, Prefix

Plan = Callable[[int], list[int]]  # from the length of a prompt to positions for all of it

DEFAULT_WINDOW = 100
LARGEST_SAMPLE = 1000  # of overlaps that are compared to see whether the law has moved


class LearnedPlacer(BasePlacer):
    """A placer that plans for one law of absolute overlap depths, learned from all requests.

    The law is looked at when it first holds an overlap, and every `replan` requests after, so
    that a plan depends on what was observed and not on when it was asked for. Until then the
    positions are those of `balanced`. Depths within one `prefix.step` are one position.

    Parameters
    ----------
    budget
        Checkpoints for a whole prefix, 1 or more.
    window
        Learn from the last `window` requests; counts where neither `decay` nor `train` is given.
    decay
        Learn from all requests, the one of n requests ago weighted by decay ** n.
    train
        Learn from the first `train` requests, and keep that law.
    replan
        Requests between two plans, 1 or more.
    drift
        Plan again only where the law has moved, at this level of significance (see
        policies/estimation/change.py); looked at every `replan` requests.
    """

    observes: ClassVar[bool] = True

    def __init__(
        self,
        budget: int,
        window: int = DEFAULT_WINDOW,
        decay: float | None = None,
        train: int | None = None,
        replan: int = 10,
        drift: float | None = None,
    ) -> None:
        require_at_least("budget", budget, 1)
        require_at_least("replan", replan, 1)
        self._budget = budget
        self._replan = replan
        self._estimator = _estimator(window, decay, train)
        self._change: ChangeDetector | None = None
        if drift is not None:
            require(0 < drift < 1, "drift", "above 0 and below 1", drift)
            self._change = ChangeDetector(min(max(window, 2), LARGEST_SAMPLE), drift)
        self._law = self._estimator.law()
        self._since_law = 0
        self._planned_for: tuple[int, int] | None = None
        self._plan: Plan

    @abstractmethod
    def plan(self, law: Law, step: int) -> Plan:
        """Return a plan for `law`, where positions are floored to multiples of `step`."""

    def observe(self, overlap: Overlap) -> None:
        """Count an overlap, and look at the law where it is time."""
        self._estimator.observe(overlap)
        change = self._change
        if change is not None:
            change.observe(min(overlap.depth, overlap.prompt_tokens))
        self._since_law += 1
        if self._since_law < self._replan and len(self._law.depths):
            return
        self._since_law = 0
        if change is None or not len(self._law.depths) or change.moved():
            self._law = self._estimator.law()
            if change is not None:
                change.settle()

    def place(self, prefix: Prefix) -> Sequence[int]:
        """Return the planned positions behind the resume point."""
        if not len(self._law.depths):
            return balanced_positions(self._budget, prefix)
        if self._planned_for != (self._law.version, prefix.step):
            self._plan = self.plan(self._law, prefix.step)
            self._planned_for = (self._law.version, prefix.step)
        positions = self._plan(prefix.prompt_tokens)
        return positions[bisect_right(positions, prefix.resume) :]


def _estimator(window: int, decay: float | None, train: int | None) -> CountingEstimator:
    """Return the estimator that the parameters ask for, exactly one of three."""
    others = [name for name, value in (("decay", decay), ("train", train)) if value is not None]
    asked = ["window"] * (window != DEFAULT_WINDOW) + others
    if len(asked) > 1:
        raise ValueError(f"expected one of window, decay and train, found {' and '.join(asked)}")
    if decay is not None:
        require(0 < decay <= 0.9999, "decay", "above 0 and at most 0.9999", decay)
        return Decay(decay)
    if train is not None:
        return Frozen(train)
    require(1 <= window <= 1_000_000, "window", "1 to 1000000", window)
    return Window(window)

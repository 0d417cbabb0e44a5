"""Optimal placement for divergences that may come somewhat earlier than those observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require
from policies.placement.learned import DEFAULT_WINDOW, LearnedPlacer
from policies.placement.staircase import solve
from policies.placement.support import floored_tokens
from policies.placement.views import Plan
from simulator.plugins.protocols import Law

PARTS = 16  # of a margin; a margin's worth is known to 1 / 16


def smoothed(
    depths: NDArray[np.int64], weights: NDArray[np.float64], margin: int, step: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Spread the weight of each depth d evenly over [d - margin, d].

    A checkpoint at d is worth nothing to an overlap of d - 1: the risk is one-sided. Under the
    smoothed law every checkpoint is paid for what it saves if the divergence comes up to `margin`
    tokens earlier, all shifts being equally likely; the best plan for it has the least expected
    regret, since what the best plan for the shifted law would save does not depend on the plan.

    Parameters
    ----------
    depths, weights
        The law, shape (S,), ascending depths.
    margin
        Tokens, 0 or more.
    step
        Depths in one multiple of it are alike; the weight is spread in pieces of `step`, or of a
        sixteenth of the margin where that is more.

    Returns
    -------
    depths, weights
        The smoothed law; what would lie before the first token is left out: a miss.
    """
    pieces = min(margin // step, PARTS)
    shifts = np.round(np.linspace(0, margin, pieces + 1)).astype(np.int64)
    shifted = (depths[:, None] - shifts).ravel()
    share = np.repeat(weights / len(shifts), len(shifts))
    kept = shifted > 0
    spread, index = np.unique(shifted[kept], return_inverse=True)
    heavy = np.bincount(index, share[kept], minlength=len(spread))
    return spread.astype(np.int64), heavy.astype(np.float64)


class Robust(LearnedPlacer):
    """Plan the optimum for divergences that may come up to `margin` tokens earlier than learned.

    Optimal, in expectation, where the learned law is right up to a shift that is uniform on
    0..margin and independent of the depth.

    Parameters
    ----------
    budget
        As for every LearnedPlacer.
    margin
        Tokens, 0 to 1,000,000; 0 is `optimal`.
    window, decay, train, replan, drift, scope, coordinate, predict
        As for every LearnedPlacer.

    Source: the one-sided risk of a divergence before a checkpoint; docs/placement.md.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("robust:budget=1,margin=16,replan=1", prompt_tokens=900, overlaps=[200] * 5)
    [184]
    >>> planned("optimal:budget=1,replan=1", prompt_tokens=900, overlaps=[200] * 5)
    [200]
    """

    def __init__(
        self,
        budget: int,
        margin: int = 256,
        window: int = DEFAULT_WINDOW,
        decay: float | None = None,
        train: int | None = None,
        replan: int = 10,
        drift: float | None = None,
        scope: str = "global",
        coordinate: str = "start",
        predict: str | None = None,
    ) -> None:
        require(0 <= margin <= 1_000_000, "margin", "0 to 1000000", margin)
        super().__init__(budget, window, decay, train, replan, drift, scope, coordinate, predict)
        self._margin = margin

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the best positions under the smoothed law, for each length of a prompt."""
        depths, weights = smoothed(law.depths, law.weights, self._margin, step)
        staircase = solve(depths, weights, self._budget, floored_tokens(step, phase))
        return lambda length, budget: staircase.positions(budget, length)

    def law_to_keep(self, law: Law) -> Law:
        """Return the smoothed law."""
        depths, weights = smoothed(law.depths, law.weights, self._margin, self._step)
        return Law(depths, weights)

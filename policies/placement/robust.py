"""Placement that leaves a margin before the divergences it has seen."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require
from policies.placement.learned import DEFAULT_WINDOW, LearnedPlacer, Plan
from policies.placement.staircase import solve
from policies.placement.support import floored_tokens
from simulator.protocols import Law, Overlap

PARTS = 16  # of a margin; a margin's worth is known to 1 / 16
COORDINATES = ("start", "end")


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
    0..margin and independent of the depth. With coordinate "end" the law is that of the distance
    from the end of the prompt, which is sharp where prompts share a long document and end in
    questions of about one length.

    Parameters
    ----------
    budget
        As for every LearnedPlacer.
    margin
        Tokens, 0 to 1,000,000; 0 is `optimal`.
    coordinate
        Where depths are counted from: "start" or "end".
    window, decay, train, replan, drift
        As for every LearnedPlacer.
    """

    source = "the one-sided risk of a divergence before a checkpoint; docs/placement.md"

    def __init__(
        self,
        budget: int,
        margin: int = 256,
        coordinate: str = "start",
        window: int = DEFAULT_WINDOW,
        decay: float | None = None,
        train: int | None = None,
        replan: int = 10,
        drift: float | None = None,
    ) -> None:
        require(0 <= margin <= 1_000_000, "margin", "0 to 1000000", margin)
        require(coordinate in COORDINATES, "coordinate", "start or end", coordinate)
        super().__init__(budget, window, decay, train, replan, drift)
        self._margin = margin
        self._from_end = coordinate == "end"

    def observe(self, overlap: Overlap) -> None:
        """Count an overlap, from the start or from the end."""
        super().observe(_from_end(overlap) if self._from_end else overlap)

    def plan(self, law: Law, step: int) -> Plan:
        """Return the best positions under the smoothed law, for each length of a prompt."""
        if self._from_end:
            return self._plan_from_end(law, step)
        depths, weights = smoothed(law.depths, law.weights, self._margin, step)
        staircase = solve(depths, weights, self._budget, floored_tokens(step))
        return lambda length: staircase.positions(self._budget, length)

    def _plan_from_end(self, law: Law, step: int) -> Plan:
        @lru_cache(maxsize=256)
        def positions(length: int) -> tuple[int, ...]:
            depths, weights = law.depths[::-1] * -1 + (length + 1), law.weights[::-1]
            inside = depths > 0
            spread = smoothed(depths[inside], weights[inside], self._margin, step)
            return tuple(solve(*spread, self._budget, floored_tokens(step)).positions())

        return lambda length: list(positions(length))


def _from_end(overlap: Overlap) -> Overlap:
    """Return the overlap with 1 + its distance from the end as its depth; a miss stays one."""
    if not overlap.depth:
        return overlap
    distance = max(0, overlap.prompt_tokens - overlap.depth)
    return replace(overlap, depth=1 + distance, prompt_tokens=1 + distance)

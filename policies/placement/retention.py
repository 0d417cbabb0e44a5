"""The choice of positions to keep under a cap, for a law of overlaps.

To keep `most` of the candidates c_1 < ... < c_n is the placement problem again, for another law: a
request of overlap d resumes at the deepest kept position at or before d, hence at or before the
deepest candidate c(d) <= d. Replace d by c(d), and no choice saves more or less. So the law is
floored to the candidates, which are its support then, and the solvers choose among their support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.placement.staircase import solve
from simulator.plugins.retention import evenly_retained

# Chooses at most so many of the depths of a law (ascending depths, weights, number).
Chooser = Callable[[NDArray[np.int64], NDArray[np.float64], int], list[int]]


def exactly(depths: NDArray[np.int64], weights: NDArray[np.float64], most: int) -> list[int]:
    """Return the depths that save most: an exact solution."""
    return solve(depths, weights, most).positions()


def best_for(
    depths: ArrayLike,
    weights: ArrayLike,
    states: Sequence[int],
    wanted: Sequence[int],
    most: int,
    choose: Chooser = exactly,
) -> list[int]:
    """Return the positions to keep for a law of overlaps: at most `most`, ascending.

    Where fewer than `most` save anything, those that leave even gaps are kept besides.

    Parameters
    ----------
    depths, weights
        The law: ascending depths in tokens, and their weights.
    states, wanted
        The candidates, ascending: resident states, and those that would be stored.
    most
        The cap.
    choose
        The solver.
    """
    candidates = np.array(sorted({*states, *wanted}), dtype=np.int64)
    reached = candidates.searchsorted(np.asarray(depths), side="right") - 1
    inside = reached >= 0
    weighed = np.asarray(weights, dtype=np.float64)[inside]
    floored = np.bincount(reached[inside], weighed, len(candidates)).astype(np.float64)
    kept = choose(candidates, floored, most)
    if len(kept) == most:
        return kept
    rest = [position for position in candidates.tolist() if position not in kept]
    return evenly_retained(rest, kept, most, int(candidates[-1]))


def best_for_uniform(
    states: Sequence[int], wanted: Sequence[int], most: int, length: int
) -> list[int]:
    """Return the positions that save most of overlaps uniform on 1..`length`."""
    candidates = np.array(sorted({*states, *wanted}), dtype=np.int64)
    end = max(length, int(candidates[-1])) + 1
    return exactly(candidates, np.diff(candidates, append=end).astype(np.float64), most)

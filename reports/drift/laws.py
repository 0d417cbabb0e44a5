"""Laws (distributions) of overlap depths: of a window of requests, and distances between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.plugins.protocols import Law

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


def empirical(depths: Int64) -> Law:
    """Return the empirical distribution of some overlaps, shape (requests,), as probabilities."""
    support, counts = np.unique(depths, return_counts=True)
    shares = counts / len(depths)
    hit = support > 0
    return Law(support[hit], shares[hit], float(shares[~hit].sum()))


def mean_depth(law: Law) -> float:
    """Return the mean overlap in tokens under a law (distribution of overlaps)."""
    return float(law.depths @ law.weights)


def distances(one: Law, other: Law) -> tuple[float, float]:
    """Return total variation and Kolmogorov distance of two laws, each normalized to a sum of 1.

    Misses count as depth 0; a law without any weight counts as all misses.
    """
    depths = np.union1d(one.depths, other.depths)
    difference = np.zeros(len(depths) + 1)
    for law, sign in ((one, 1.0), (other, -1.0)):
        total = float(law.weights.sum()) + law.misses
        difference[1 + depths.searchsorted(law.depths)] += sign * law.weights / (total or 1.0)
        difference[0] += sign * (law.misses / total if total else 1.0)
    variation = 0.5 * float(np.abs(difference).sum())
    return min(variation, 1.0), min(float(np.abs(difference.cumsum()).max()), 1.0)


def deepest(one: Law, other: Law) -> int:
    """Return the greatest depth in either law, 0 where both are empty."""
    return max(int(law.depths[-1]) if len(law.depths) else 0 for law in (one, other))

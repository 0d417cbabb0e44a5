"""Tests of whether the law of overlaps changed from one window to another.

The law is the distribution of overlap depths. Under the null hypothesis that two windows follow one
law, it does not matter which requests were in which: every split of the pooled requests is equally
likely. With B random splits of which b are at least as far apart as the two windows,
(b + 1) / (B + 1) is an exact p-value, however many depths the law has. Splits keep blocks of
consecutive requests together, so that dependence within a block remains in the null distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.drift.laws import Float64, Int64
from reports.drift.windows import Windows
from reports.statistics import CONFIDENCE, holm
from workloads.randomness import stream

SPLITS = 1999
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Distance:
    """Distances between two windows, and their distribution under the null hypothesis.

    Parameters
    ----------
    window, other
        The indices of the later and the earlier window.
    total_variation, kolmogorov
        The distances, 0 to 1.
    total_variation_band, kolmogorov_band
        The 95 % quantiles of the distances over random splits.
    p_value
        The p-value of the Kolmogorov distance.
    moved
        Whether it is significant at 5 % after Holm's correction for all comparisons.
    """

    window: int
    other: int
    total_variation: float
    kolmogorov: float
    total_variation_band: float
    kolmogorov_band: float
    p_value: float
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances of each window that counts to the one before it and to the first that counts.

    Parameters
    ----------
    steps, since_first
        The two lists, each in order of time.
    change
        The request at which the largest significant step begins; None where there is none.
    """

    steps: tuple[Distance, ...]
    since_first: tuple[Distance, ...]
    change: int | None

    @property
    def largest(self) -> Distance | None:
        """The significant step with the largest Kolmogorov distance; None where there is none."""
        return _largest(self.steps)


def distances_over_time(depths: Int64, windows: Windows, seed: int) -> Distances:
    """Return the distances of the windows; the same seed draws the same splits.

    The step from the first to the second window that counts is in both lists, and computed once.
    """
    first, last = windows.first, windows.count
    pairs = [(k, k - 1) for k in range(first + 1, last)]
    pairs += [(k, first) for k in range(first + 2, last)]
    rng = stream(seed, "drift splits")
    compared = [
        compare(windows.of(depths, one), windows.of(depths, other), windows.block, rng)
        for one, other in pairs
    ]
    adjusted = holm([distance[-1] for distance in compared])
    distances = [
        Distance(*pair, *distance, moved=p <= 1 - CONFIDENCE)
        for pair, distance, p in zip(pairs, compared, adjusted, strict=True)
    ]
    steps = last - first - 1
    largest = _largest(distances[:steps])
    change = None
    if largest is not None:
        pair = depths[windows.start(largest.other) : windows.start(largest.window + 1)]
        change = windows.start(largest.other) + change_point(pair)
    return Distances(tuple(distances[:steps]), (distances[0], *distances[steps:]), change)


def compare(
    one: Int64, other: Int64, block: int, rng: np.random.Generator, splits: int = SPLITS
) -> tuple[float, float, float, float, float]:
    """Compare two windows of equal width, a multiple of `block`.

    Returns
    -------
    total_variation, kolmogorov
        The distances.
    total_variation_band, kolmogorov_band
        Their 95 % quantiles over the splits.
    p_value
        The p-value of the Kolmogorov distance.
    """
    counts = _counts(np.concatenate((one, other)), block)
    half = np.repeat(np.array([1, -1], np.float32), len(counts) // 2)
    signs = np.vstack([half, rng.permuted(np.tile(half, (splits, 1)), axis=1)])
    # Whole numbers below 2**24: exact in single precision, whatever the order of the sums.
    differences = signs @ counts
    variation = np.abs(differences).sum(axis=1) / (2 * len(one))
    kolmogorov = np.abs(differences.cumsum(axis=1)).max(axis=1) / len(one)
    return (
        float(variation[0]),
        float(kolmogorov[0]),
        _band(variation[1:]),
        _band(kolmogorov[1:]),
        (1 + np.count_nonzero(kolmogorov[1:] >= kolmogorov[0] - ROUNDING)) / (splits + 1),
    )


def change_point(depths: Int64) -> int:
    """Return the number of requests before the most likely change; needs two requests or more.

    The change is where the Kolmogorov distance between the requests before and after is largest,
    scaled so that its variance under no change is the same at every position.

    References
    ----------
    Carlstein (1988), "Nonparametric change-point estimation".
    """
    support, place = np.unique(depths, return_inverse=True)
    below = (place[:, None] <= np.arange(len(support))).cumsum(axis=0)
    before = np.arange(1, len(depths))[:, None]
    after = len(depths) - before
    gaps = below[:-1] / before - (below[-1] - below[:-1]) / after
    scaled = np.abs(gaps).max(axis=1) * np.sqrt(before * after)[:, 0]
    return 1 + int(scaled.argmax())


def _largest(steps: Sequence[Distance]) -> Distance | None:
    moved = (step for step in steps if step.moved)
    return max(moved, key=lambda step: step.kolmogorov, default=None)


def _counts(depths: Int64, block: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the count of each depth (ascending) in each block, shape (blocks, depths)."""
    support, place = np.unique(depths, return_inverse=True)
    blocks = len(depths) // block
    rows = np.arange(len(depths)) // block
    counts = np.bincount(rows * len(support) + place, minlength=blocks * len(support))
    return counts.reshape(blocks, len(support)).astype(np.float32)


def _band(values: Float64) -> float:
    return float(np.quantile(values, CONFIDENCE, method="higher"))

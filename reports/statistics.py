"""Intervals, paired differences, resampling and warm-up.

Every interval is two-sided with nominal coverage 95 %; the tests measure the coverage on processes
whose truth is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

CONFIDENCE = 0.95
RESAMPLES = 2000

# With fewer independent values, 0.99**n > 0.025: the P99 may lie above the largest of them, so no
# 95 % interval for it has an upper end.
MIN_P99_REQUESTS = 368

Method = Literal["replications", "draws", "blocks", "none"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a difference, with its interval where there is evidence for one.

    Parameters
    ----------
    value
        The estimate, in the unit of what was given.
    low, high
        Ends of the interval; None where nothing supports one.
    method
        What the interval rests on.
    count
        Replications or blocks that it rests on.
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: Method = "none"
    count: int = 1

    @property
    def tied(self) -> bool:
        """Whether the estimate is a difference whose interval covers zero."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


def mean_interval(values: ArrayLike) -> Estimate:
    """Return the mean of independent values (one a replication) with its t interval.

    One value gives no interval. Raises ValueError for none at all.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample):
        raise ValueError("mean_interval needs at least one value in one dimension")
    mean, count = float(sample.mean()), len(sample)
    if count < 2:
        return Estimate(mean)
    half = _t_quantile(count - 1) * float(sample.std(ddof=1)) / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half, "replications", count)


def drawn_interval(values: ArrayLike) -> Estimate:
    """Return the mean of values under different draws of the costs, and where another would lie.

    What is not known of the costs is the same in all requests, so it does not shrink with the
    number of draws, as the error of a mean would. With random traffic besides, the interval is
    too wide rather than too narrow. One value gives no interval; none at all raises ValueError.
    """
    found = mean_interval(values)
    if found.low is None or found.high is None:
        return found
    half = (found.high - found.low) / 2 * math.sqrt(found.count + 1)
    return Estimate(found.value, found.value - half, found.value + half, "draws", found.count)


def paired_difference(ours: ArrayLike, theirs: ArrayLike) -> Estimate:
    """Return the mean of `ours - theirs` with its t interval; pairs share their random numbers."""
    return mean_interval(np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of sums over blocks of time, such as saved tokens over prompt tokens.

    Both are float64 of shape (blocks,).
    """

    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]

    @property
    def value(self) -> float:
        """Ratio of the two sums; NaN where the denominator is zero."""
        return float(self.resampled(np.ones((1, len(self.numerator))))[0])

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of the weighted sums for each row of `weights` (resamples, blocks)."""
        below = weights @ self.denominator
        ratios = np.full(len(weights), np.nan)
        np.divide(weights @ self.numerator, below, out=ratios, where=below > 0)
        return ratios


@lru_cache(maxsize=4)  # a page resamples every policy with one set
def block_weights(
    blocks: int, length: int | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> NDArray[np.float64]:
    """Return how often a circular block bootstrap draws each block of time.

    A draw takes `length` consecutive blocks, around the end if need be, so that dependence over
    less than `length` blocks survives. The same arguments give the same weights: use one set for
    all policies, and their differences are paired.

    Returns
    -------
    float64 of shape (resamples, blocks), read-only; each row sums to `blocks` rounded up to whole
    draws.

    References
    ----------
    Politis and Romano (1992), "A circular block-resampling procedure for stationary data".
    """
    run = _run_length(blocks, length)
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    starts = generator.integers(blocks, size=(resamples, -(-blocks // run)))
    drawn = (starts[:, :, None] + np.arange(run)) % blocks
    rows = np.arange(resamples)[:, None] * blocks + drawn.reshape(resamples, -1)
    counts = np.bincount(rows.ravel(), minlength=resamples * blocks)
    weights = counts.reshape(resamples, blocks).astype(np.float64)
    weights.setflags(write=False)
    return weights


def resampled_difference(
    ours: Ratio, theirs: Ratio | None, length: int | None = None, seed: int = 0
) -> Estimate:
    """Return `ours - theirs` (or `ours` alone) with an interval from resampled blocks of time.

    The interval is symmetric: the bootstrap gives the standard error, corrected for the variance
    that `blocks / length` independent draws lose to their own mean, and Student's t with
    `blocks / length - 1` degrees of freedom the multiple. Percentiles would cover too little with
    so few draws. Fewer than four independent draws give no interval, nor do denominators that
    are zero in some resample.
    """
    blocks = len(ours.numerator)
    value = ours.value - (theirs.value if theirs else 0.0)
    run = _run_length(blocks, length)
    draws = blocks / run
    if draws < 4 or not np.isfinite(value):
        return Estimate(value, count=blocks)
    weights = block_weights(blocks, run, seed=seed)
    spread = ours.resampled(weights) - (theirs.resampled(weights) if theirs else 0.0)
    if not np.isfinite(spread).all():
        return Estimate(value, count=blocks)
    error = float(spread.std(ddof=1)) * math.sqrt(draws / (draws - 1))
    # The last digits of a matrix product depend on how many threads share it; pages must not.
    half = float(f"{_t_quantile(draws - 1) * error:.6g}")
    return Estimate(value, value - half, value + half, "blocks", blocks)


def p99(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the 99th percentile, or None when fewer than 368 values cannot bound it."""
    if len(values) < MIN_P99_REQUESTS:
        return None
    return float(np.quantile(np.asarray(values, dtype=np.float64), 0.99))


def mser5(values: ArrayLike) -> int:
    """Return how many leading values are warm-up, by the marginal standard error rule MSER-5.

    The series is averaged in fives; the cut `d`, at most half of the `n` means, is the one that
    makes the squared standard error of the rest, `sum((y - mean)^2) / (n - d)^2`, least. Fewer
    than ten means give 0.

    References
    ----------
    White, Cobb and Spratt (2000), "A comparison of five steady-state truncation heuristics".
    """
    series = np.asarray(values, dtype=np.float64)
    count = len(series) // 5
    if count < 10:
        return 0
    means = series[: count * 5].reshape(count, 5).mean(axis=1)
    means = means - means.mean()  # keeps the difference of squares below accurate
    left = np.arange(count, 0, -1)
    total = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    criterion = (squares - total**2 / left) / left**2
    return 5 * int(np.argmin(criterion[: count // 2 + 1]))


def _run_length(blocks: int, length: int | None) -> int:
    """Return consecutive blocks a draw: the cube root of all, unless `length` is given."""
    if blocks < 1:
        raise ValueError("there is no block to resample")
    run = round(blocks ** (1 / 3)) if length is None else length
    if run < 1:
        raise ValueError(f"block length {run} is below 1")
    return min(run, blocks)


def _t_quantile(freedom: float) -> float:
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))

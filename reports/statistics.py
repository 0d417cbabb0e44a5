"""Intervals, differences, resampling, several comparisons at once, and warm-up.

Every interval is two-sided with nominal coverage 95 %; the tests measure the coverage on processes
whose truth is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
RESAMPLES = 2000
QUANTILE_RESAMPLES = 400  # an error needs few, and each is a pass over all requests
FEWEST_DRAWS = 4
_CHUNK = 4_000_000  # weights that lie in memory at a time

# With fewer independent values, 0.99**n > 0.025: the P99 may lie above the largest of them, so no
# 95 % interval for it has an upper end.
MIN_P99_REQUESTS = 368

Method = Literal["replications", "draws", "blocks", "sessions", "documents", "none"]


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
        Replications, blocks, sessions or documents that it rests on.
    freedom
        Degrees of freedom of the Student's t that the interval is a multiple of; None without one.
    """

    value: float
    low: float | None = None
    high: float | None = None
    method: Method = "none"
    count: int = 1
    freedom: float | None = field(default=None, compare=False)

    @property
    def tied(self) -> bool:
        """Whether the estimate is a difference whose interval covers zero."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high

    @property
    def error(self) -> float | None:
        """The standard error, None without an interval."""
        if self.low is None or self.high is None or self.freedom is None:
            return None
        return (self.high - self.low) / 2 / _t_quantile(self.freedom)

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value of zero: below 5 % where the interval leaves zero out."""
        if self.error is None or self.freedom is None:
            return None
        if self.error == 0:
            return float(self.value == 0)
        return 2 * float(stdtr(self.freedom, -abs(self.value) / self.error))


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
    error = float(sample.std(ddof=1)) / math.sqrt(count)
    return _interval(mean, error, count - 1, "replications", count)


def drawn_interval(values: ArrayLike) -> Estimate:
    """Return the mean of values under different draws of the costs, and where another would lie.

    What is not known of the costs is the same in all requests, so it does not shrink with the
    number of draws, as the error of a mean would. With random traffic besides, the interval is
    too wide rather than too narrow. One value gives no interval; none at all raises ValueError.
    """
    found = mean_interval(values)
    if found.error is None or found.freedom is None:
        return found
    error = found.error * math.sqrt(found.count + 1)
    return _interval(found.value, error, found.freedom, "draws", found.count)


def paired_difference(ours: ArrayLike, theirs: ArrayLike) -> Estimate:
    """Return the mean of `ours - theirs` with its t interval; pairs share their random numbers."""
    return mean_interval(np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64))


def independent_difference(ours: Estimate, theirs: Estimate) -> Estimate:
    """Return `ours - theirs` of two estimates that share nothing; no interval if one has none.

    References
    ----------
    Welch (1947), "The generalization of Student's problem when several different population
    variances are involved".
    """
    value = ours.value - theirs.value
    if ours.error is None or theirs.error is None or not ours.freedom or not theirs.freedom:
        return Estimate(value)
    squares = ours.error**2, theirs.error**2
    shares = squares[0] ** 2 / ours.freedom + squares[1] ** 2 / theirs.freedom
    freedom = sum(squares) ** 2 / shares if shares else min(ours.freedom, theirs.freedom)
    count = min(ours.count, theirs.count)
    return _interval(value, math.sqrt(sum(squares)), freedom, ours.method, count)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for having made all of these comparisons.

    Claiming what is below 5 % then claims anything false with a probability of at most 5 %,
    however the comparisons depend on each other.

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    stepped = np.maximum.accumulate(np.asarray(p_values, dtype=np.float64)[order] * factors)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


class Statistic(Protocol):
    """A number made of parts (blocks of time, sessions, ...) that can be drawn again."""

    @property
    def parts(self) -> int:
        """How many there are."""
        ...

    @property
    def value(self) -> float:
        """The number with every part taken once."""
        ...

    @property
    def even_parts(self) -> float:
        """How many parts of one size would tell as much as these."""
        ...

    @property
    def resamples(self) -> int:
        """How often to draw."""
        ...

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number for each row of `weights` (resamples, parts); NaN where undefined."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of sums over parts, such as saved tokens over prompt tokens.

    Both are float64 of shape (parts,).
    """

    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.numerator)

    @property
    def value(self) -> float:
        """Ratio of the two sums; NaN where the denominator is zero."""
        return float(self.resampled(np.ones((1, len(self.numerator))))[0])

    @property
    def even_parts(self) -> float:
        """Kish's effective number of parts, by their shares of the denominator."""
        return _effective(self.denominator)

    @property
    def resamples(self) -> int:
        """RESAMPLES: a product of matrices."""
        return RESAMPLES

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of the weighted sums for each row of `weights` (resamples, parts)."""
        below = weights @ self.denominator
        ratios = np.full(len(weights), np.nan)
        np.divide(weights @ self.numerator, below, out=ratios, where=below > 0)
        return ratios


@dataclass(frozen=True, slots=True, eq=False)
class Quantile:
    """A quantile of values that lie in parts.

    Parameters
    ----------
    values
        float64 of shape (values,), ascending.
    part
        int64 of the same shape: the part of each, counted from 0.
    parts
        How many parts there are; some may hold no value.
    level
        0.99 for the P99.
    """

    values: NDArray[np.float64]
    part: NDArray[np.int64]
    parts: int
    level: float

    @property
    def value(self) -> float:
        """The quantile, interpolated; NaN of no values."""
        return float(np.quantile(self.values, self.level)) if len(self.values) else math.nan

    @property
    def even_parts(self) -> float:
        """Kish's effective number of parts, by the values that they hold."""
        return _effective(np.bincount(self.part, minlength=self.parts).astype(np.float64))

    @property
    def resamples(self) -> int:
        """QUANTILE_RESAMPLES: each is a pass over the values."""
        return QUANTILE_RESAMPLES

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least value with `level` of the weight at or below it, for each row."""
        found = np.full(len(weights), np.nan)
        step = max(1, _CHUNK // max(len(self.values), 1))
        for first in range(0, len(weights), step):
            below = np.cumsum(weights[first : first + step, self.part], axis=1)
            for row, sums in enumerate(below, first):
                if len(sums) and sums[-1] > 0:
                    found[row] = self.values[np.searchsorted(sums, self.level * sums[-1])]
        return found


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
    ours: Statistic, theirs: Statistic | None, length: int | None = None, seed: int = 0
) -> Estimate:
    """Return `ours - theirs` (or `ours` alone) with an interval from resampled blocks of time.

    The interval is symmetric: the bootstrap gives the standard error, corrected for the variance
    that `blocks / length` independent draws lose to their own mean, and Student's t with
    `blocks / length - 1` degrees of freedom the multiple. Percentiles would cover too little with
    so few draws. Fewer than four independent draws give no interval, nor do denominators that
    are zero in some resample.
    """
    run = _run_length(ours.parts, length)
    return _resampled(ours, theirs, run, ours.parts / run, "blocks", seed)


def clustered_difference(
    ours: Statistic,
    theirs: Statistic | None,
    method: Literal["sessions", "documents"],
    seed: int = 0,
) -> Estimate:
    """Return the same with an interval from resampling parts that do not depend on each other.

    A few large parts among many small ones tell little: the degrees of freedom come from Kish's
    effective number of parts, `sum(size)^2 / sum(size^2)`, and fewer than four of those give no
    interval.

    References
    ----------
    Carter, Schnepel and Steigerwald (2017), "Asymptotic behavior of a t test robust to cluster
    heterogeneity".
    """
    even = ours.even_parts if theirs is None else min(ours.even_parts, theirs.even_parts)
    return _resampled(ours, theirs, 1, even, method, seed)


def _resampled(
    ours: Statistic, theirs: Statistic | None, run: int, draws: float, method: Method, seed: int
) -> Estimate:
    parts = ours.parts
    value = ours.value - (theirs.value if theirs else 0.0)
    if draws < FEWEST_DRAWS or not np.isfinite(value):
        return Estimate(value, count=parts)
    weights = block_weights(parts, run, ours.resamples, seed)
    spread = ours.resampled(weights) - (theirs.resampled(weights) if theirs else 0.0)
    if not np.isfinite(spread).all():
        return Estimate(value, count=parts)
    error = float(spread.std(ddof=1)) * math.sqrt(draws / (draws - 1))
    return _interval(value, error, draws - 1, method, parts)


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


def _interval(value: float, error: float, freedom: float, method: Method, count: int) -> Estimate:
    """Return the t interval of a value with a standard error."""
    half = _t_quantile(freedom) * error
    if method not in {"replications", "draws"}:
        # The last digits of a matrix product depend on how many threads share it; pages must not.
        half = float(f"{half:.6g}")
    return Estimate(value, value - half, value + half, method, count, freedom)


def _effective(sizes: NDArray[np.float64]) -> float:
    """Return how many parts of one size have the same sum of squared shares."""
    squares = float(np.square(sizes).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


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

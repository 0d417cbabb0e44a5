"""Intervals from independent values, and several comparisons at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from reports.statistics.estimate import Estimate, t_interval


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
    return t_interval(mean, error, count - 1, "replications", count)


def drawn_interval(values: ArrayLike) -> Estimate:
    """Return the mean over draws of the cost coefficients, with a prediction interval.

    What is not known of the costs is the same in all requests, so it does not shrink with the
    number of draws, as the error of a mean would. With random traffic besides, the interval is
    too wide rather than too narrow. One value gives no interval; none at all raises ValueError.
    """
    interval = mean_interval(values)
    if interval.error is None or interval.freedom is None:
        return interval
    error = interval.error * math.sqrt(interval.count + 1)
    return t_interval(interval.value, error, interval.freedom, "draws", interval.count)


def paired_difference(ours: ArrayLike, theirs: ArrayLike) -> Estimate:
    """Return the mean of `ours - theirs` with its t interval; pairs share their random numbers."""
    return mean_interval(np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64))


def independent_difference(ours: Estimate, theirs: Estimate) -> Estimate:
    """Return `ours - theirs` of independent estimates; no interval if one of them has none.

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
    return t_interval(value, math.sqrt(sum(squares)), freedom, ours.method, count)


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


def corrected(differences: Sequence[Estimate | None]) -> list[Estimate | None]:
    """Return the differences with their p-values adjusted for having made all of them.

    Those that are zero in every part are no comparison: there is nothing to test.
    """
    tested = [each for each in differences if each is not None and each.tested]
    adjusted = iter(holm([each.p_value or 0.0 for each in tested]))
    return [
        replace(each, p_holm=next(adjusted)) if each is not None and each.tested else each
        for each in differences
    ]


def ratio_of_means(ours: ArrayLike, theirs: ArrayLike) -> Estimate:
    """Return the mean of `ours` over that of `theirs`, pair by pair, with its t interval.

    The error is that of the linearised ratio: of `ours - ratio * theirs`, over the mean of
    `theirs`. NaN, without an interval, where that mean is zero.

    References
    ----------
    Cochran (1977), "Sampling techniques", 3rd edition, section 6.4.
    """
    over, under = (np.asarray(values, dtype=np.float64) for values in (ours, theirs))
    below = float(under.mean())
    if not below:
        return Estimate(math.nan)
    ratio = float(over.mean()) / below
    error = mean_interval(over - ratio * under).error
    if error is None:
        return Estimate(ratio)
    return t_interval(ratio, error / abs(below), len(over) - 1, "replications", len(over))

"""Sums by unit, and distances that follow from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reports.trace.comparison.chance import Statistic, Tables
from reports.trace.comparison.sides import Int64, Kind, Side

Float64 = NDArray[np.float64]
Numbers = Int64 | Float64

BINS = 512


def summed(
    sides: tuple[Side, Side],
    requests: tuple[Int64, Int64],
    columns: tuple[Float64, Float64],
    kinds: tuple[Kind, ...] = ("blocks", "sessions"),
) -> Tables:
    """Sum columns, float64 (items, columns), by the units of the requests that the items are of."""
    tables = {}
    for kind in kinds:
        if kind in sides[0].units:
            one, other = (
                _sum(side.units[kind][request], column)
                for side, request, column in zip(sides, requests, columns, strict=True)
            )
            tables[kind] = (one, other)
    return tables


def _sum(unit: Int64, columns: Float64) -> Float64:
    known = unit >= 0
    unit, columns = unit[known], columns[known]
    count = int(unit.max(initial=-1)) + 1
    sums = [np.bincount(unit, column, minlength=count) for column in columns.T]
    return np.stack(sums, axis=1) if sums else np.zeros((count, 0))


def binned(
    sides: tuple[Side, Side],
    requests: tuple[Int64, Int64],
    values: tuple[Numbers, Numbers],
    weights: tuple[Int64, Int64] | None = None,
) -> tuple[Tables, Float64]:
    """Count values in at most 512 bins, by the units of the requests that they are of.

    Returns the tables and the greatest value of each bin.
    """
    pooled = np.unique(np.concatenate(values)).astype(np.float64)
    if len(pooled) > BINS:
        at = np.linspace(0, 1, BINS)
        pooled = np.unique(np.quantile(np.concatenate(values), at, method="higher"))
    tables: dict[Kind, tuple[Float64, Float64]] = {}
    for kind in sides[0].units:
        pair = []
        for at_side, side in enumerate(sides):
            unit = side.units[kind][requests[at_side]]
            known = unit >= 0
            place = np.searchsorted(pooled, values[at_side][known])
            cells = int(unit.max(initial=-1) + 1) * len(pooled)
            weight = None if weights is None else weights[at_side][known]
            counts = np.bincount(unit[known] * len(pooled) + place, weight, minlength=cells)
            pair.append(counts.reshape(-1, len(pooled)).astype(np.float64))
        tables[kind] = (pair[0], pair[1])
    return tables, pooled


def kolmogorov(one: Float64, other: Float64) -> Float64:
    """Return the greatest difference of two distribution functions, from counts in bins."""
    shares = [counts.cumsum(axis=1) / counts.sum(axis=1, keepdims=True) for counts in (one, other)]
    apart: Float64 = np.abs(shares[0] - shares[1]).max(axis=1)
    return apart


def quantile_ratio(share: float, points: Float64, least: float) -> Statistic:
    """Return the statistic |log(quantile / quantile)| of counts in bins.

    `least` is added to both, so that there is a ratio where one is 0.
    """

    def apart(one: Float64, other: Float64) -> Float64:
        quantiles = []
        for counts in (one, other):
            reached = counts.cumsum(axis=1) >= share * counts.sum(axis=1, keepdims=True)
            quantiles.append(points[reached.argmax(axis=1)])
        ratio: Float64 = np.abs(np.log((quantiles[0] + least) / (quantiles[1] + least)))
        return ratio

    return apart


def ratio_apart(measure: Callable[[Float64], Float64]) -> Statistic:
    """Return the statistic |log(a / b)| of a measure of sums."""
    return lambda one, other: np.abs(np.log(measure(one) / measure(other)))


def points_apart(measure: Callable[[Float64], Float64]) -> Statistic:
    """Return the statistic |a - b| of a measure of sums."""
    return lambda one, other: np.abs(measure(one) - measure(other))


def quotient(sums: Float64) -> Float64:
    """Return the first column over the second."""
    quotients: Float64 = sums[:, 0] / sums[:, 1]
    return quotients


def variation(sums: Float64) -> Float64:
    """Return standard deviation / mean from counts, sums and sums of squares."""
    count, total, squares = sums.T
    variations: Float64 = np.sqrt(np.maximum(squares * count / total**2 - 1, 0))
    return variations

"""Sums for each unit of traffic, and distances computed from such sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reports.trace.comparison.chance import Statistic, Tables
from reports.trace.comparison.sides import Float64, Int64, Kind, Sides

Numbers = Int64 | Float64
Measure = Callable[[Float64], Float64]  # of sums, float64 (splits, columns)

BINS = 512


def summed(
    sides: Sides,
    columns: Sequence[Float64],
    requests: Sequence[Int64] | None = None,
    kinds: Sequence[Kind] = ("blocks", "sessions"),
) -> Tables:
    """Return sums of columns, float64 (items, columns), for each unit of traffic.

    `requests` gives the index of each item's request; by default the items are the first requests.
    """
    tables = {}
    for kind in kinds:
        if kind in sides[0].units:
            units = _units(sides, kind, columns, requests)
            tables[kind] = [_sum(*pair) for pair in zip(units, columns, strict=True)]
    return tables


def _units(
    sides: Sides, kind: Kind, items: Sequence[Numbers], requests: Sequence[Int64] | None
) -> list[Int64]:
    """Return the unit of each item; -1 for none."""
    if requests is None:
        return [side.units[kind][: len(each)] for side, each in zip(sides, items, strict=True)]
    return [side.units[kind][request] for side, request in zip(sides, requests, strict=True)]


def _sum(unit: Int64, columns: Float64) -> Float64:
    known = unit >= 0
    unit, columns = unit[known], columns[known]
    count = int(unit.max(initial=-1)) + 1
    sums = [np.bincount(unit, column, minlength=count) for column in columns.T]
    return np.stack(sums, axis=1) if sums else np.zeros((count, 0))


def binned(
    sides: Sides,
    values: Sequence[Numbers],
    requests: Sequence[Int64] | None = None,
    weights: Sequence[Int64] | None = None,
) -> tuple[Tables, Float64]:
    """Return counts of values in at most 512 bins for each unit, and the bins' greatest values.

    `requests` is as in `summed`.
    """
    points = np.unique(np.concatenate(values)).astype(np.float64)
    if len(points) > BINS:
        at = np.linspace(0, 1, BINS)
        points = np.unique(np.quantile(np.concatenate(values), at, method="higher"))
    places = [np.searchsorted(points, each) for each in values]
    counted = weights or [np.ones(len(each), np.int64) for each in values]
    tables = {
        kind: [
            _counts(*each, len(points))
            for each in zip(_units(sides, kind, values, requests), places, counted, strict=True)
        ]
        for kind in sides[0].units
    }
    return tables, points


def _counts(unit: Int64, place: Int64, weight: Int64, bins: int) -> Float64:
    known = unit >= 0
    cells = (int(unit.max(initial=-1)) + 1) * bins
    counts = np.bincount(unit[known] * bins + place[known], weight[known], minlength=cells)
    return counts.reshape(-1, bins).astype(np.float64)


def kolmogorov(one: Float64, other: Float64) -> Float64:
    """Return the Kolmogorov distance of two binned samples: the greatest CDF difference."""
    shares = [counts.cumsum(axis=1) / counts.sum(axis=1, keepdims=True) for counts in (one, other)]
    apart: Float64 = np.abs(shares[0] - shares[1]).max(axis=1)
    return apart


def quantile(share: float, points: Float64, least: float) -> Measure:
    """Return the measure that computes a quantile from counts in bins with the upper ends `points`.

    `least` is added, so that a ratio exists where a quantile is 0.
    """

    def measure(counts: Float64) -> Float64:
        reached = counts.cumsum(axis=1) >= share * counts.sum(axis=1, keepdims=True)
        quantiles: Float64 = points[reached.argmax(axis=1)] + least
        return quantiles

    return measure


def ratio_apart(measure: Measure) -> Statistic:
    """Return the statistic |log(a / b)| of a measure's values a and b."""
    return lambda one, other: np.abs(np.log(measure(one) / measure(other)))


def points_apart(measure: Measure) -> Statistic:
    """Return the statistic |a - b| of a measure's values a and b."""
    return lambda one, other: np.abs(measure(one) - measure(other))


def quotient(sums: Float64) -> Float64:
    """Return the first column divided by the second."""
    quotients: Float64 = sums[:, 0] / sums[:, 1]
    return quotients


def quotients_of(columns: Sequence[Float64]) -> tuple[float, float]:
    """Return sum of the first column / sum of the second, for both traces."""
    a, b = (float(quotient(each.sum(axis=0, keepdims=True))[0]) for each in columns)
    return a, b


def variation(sums: Float64) -> Float64:
    """Return standard deviation / mean, from columns of counts, sums and sums of squares."""
    count, total, squares = sums.T
    variations: Float64 = np.sqrt(np.maximum(squares * count / total**2 - 1, 0))
    return variations

"""Summaries of distributions: quantiles and survival curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64] | NDArray[np.float64]

MOST_POINTS = 400  # of a survival curve


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Mean, spread and quantiles of a distribution, in the unit of its values.

    Parameters
    ----------
    cv
        Standard deviation / mean; None if the mean is 0.
    percentiles
        101 values: the smallest, the 1st to the 99th percentile, the largest.
    """

    mean: float
    cv: float | None
    p50: float
    p90: float
    p99: float
    max: float
    percentiles: tuple[float, ...]


def quantiles_of(values: Numbers, weights: NDArray[np.int64] | None = None) -> Quantiles:
    """Return mean, spread and quantiles of at least one value; weights, if given, are above 0."""
    mean = float(np.average(values, weights=weights))
    spread = float(np.average((values - mean) ** 2, weights=weights)) ** 0.5
    at = np.linspace(0, 1, 101)
    if weights is None:
        percentiles = np.quantile(values, at).tolist()
    else:
        percentiles = np.quantile(values, at, weights=weights, method="inverted_cdf").tolist()
    return Quantiles(
        mean=mean,
        cv=spread / mean if mean else None,
        p50=percentiles[50],
        p90=percentiles[90],
        p99=percentiles[99],
        max=values.max().item(),
        percentiles=tuple(percentiles),
    )


def known_quantiles(values: Numbers, weights: NDArray[np.int64] | None = None) -> Quantiles | None:
    """Return mean, spread and quantiles of the values, None if there are none."""
    return quantiles_of(values, weights) if len(values) else None


@dataclass(frozen=True, slots=True)
class Survival:
    """The share of values that are at least each of `points`, of which there are at most 400."""

    points: tuple[int, ...]
    share: tuple[float, ...]


def survival(values: NDArray[np.int64]) -> Survival:
    """Return the survival curve of whole numbers at their positive values."""
    points, counts = np.unique(values, return_counts=True)
    share = np.cumsum(counts[::-1])[::-1] / len(values)
    points, share = points[points > 0], share[points > 0]
    if len(points) > MOST_POINTS:
        wanted = np.geomspace(points[0], points[-1], MOST_POINTS)
        at = np.unique(np.searchsorted(points, wanted).clip(max=len(points) - 1))
        points, share = points[at], share[at]
    return Survival(tuple(points.tolist()), tuple(share.tolist()))

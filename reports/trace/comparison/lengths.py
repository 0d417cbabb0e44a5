"""Differences of laws: lengths of prompts and outputs, overlaps, waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference
from reports.trace.comparison.sides import Int64, Side
from reports.trace.comparison.statistics import Numbers, binned, kolmogorov, quantile_ratio
from reports.trace.comparison.wording import arrow, change, with_unit

QUANTILES = {"median": 0.5, "p90": 0.9}
PLACES = {"median": "at the median", "p90": "at the 90th percentile"}


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a law: "prompts are", "longer", "shorter", "as long", "prompt lengths"."""

    what: str
    more: str
    less: str
    same: str
    law: str


def law_differences(
    name: str,
    words: Words,
    unit: str,
    sides: tuple[Side, Side],
    requests: tuple[Int64, Int64],
    values: tuple[Numbers, Numbers],
    chance: Chance,
    *,
    weights: tuple[Int64, Int64] | None = None,
    least: float = 1.0,
    quantiles: tuple[str, ...] = ("median", "p90"),
) -> Iterator[Difference]:
    """Yield the differences of quantiles of a law, and of the law itself.

    Parameters
    ----------
    requests, values, weights
        Of each value of both traces: the request that it is of, itself, and how much it counts.
    least
        What is added to quantiles so that there is a ratio where one is 0.
    """
    tables, points = binned(sides, requests, values, weights)
    for quantile in quantiles:
        share = QUANTILES[quantile]
        a, b = (
            float(np.quantile(each, share, weights=weight, method="inverted_cdf"))
            for each, weight in zip(values, weights or (None, None), strict=True)
        )
        apart = 1.0 if a == b else b / a if a else np.inf
        yield Difference(
            name=f"{name}_{quantile}",
            kind="ratio",
            a=a,
            b=b,
            unit=unit,
            apart=float(apart),
            sentence=_sentence(words, PLACES[quantile], a, b, unit),
            p_value=chance.p_value(tables, quantile_ratio(share, points, least)),
        )
    apart = _kolmogorov(values, weights)
    yield Difference(
        name=f"{name}_law",
        kind="distance",
        a=None,
        b=None,
        unit="Kolmogorov-Smirnov distance",
        apart=apart,
        sentence=f"the distributions of {words.law} are {apart:.2f} apart "
        "(Kolmogorov-Smirnov, 0 to 1)",
        p_value=chance.p_value(tables, kolmogorov),
    )


def _sentence(words: Words, place: str, a: float, b: float, unit: str) -> str:
    if a == b:
        return f"{words.what} {words.same} {place} ({with_unit(a, unit)})"
    how = change(b / a, words.more, words.less, words.same) if a and b else ""
    if not how:
        return f"{words.what} {words.more if b > a else words.less} {place} {arrow(a, b, unit)}"
    return f"{words.what} {how} {place} {arrow(a, b, unit)}"


def _kolmogorov(values: tuple[Numbers, Numbers], weights: tuple[Int64, Int64] | None) -> float:
    """Return the greatest difference of two distribution functions, from all values."""
    points = np.unique(np.concatenate(values))
    functions = []
    for at, each in enumerate(values):
        weight = None if weights is None else weights[at]
        counts = np.bincount(np.searchsorted(points, each), weight, minlength=len(points))
        functions.append(counts.cumsum() / counts.sum())
    return float(np.abs(functions[0] - functions[1]).max())

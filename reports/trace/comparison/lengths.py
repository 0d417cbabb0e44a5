"""Differences of laws: lengths of prompts and outputs, overlaps, waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference, distance, ratio
from reports.trace.comparison.sides import Int64, Sides
from reports.trace.comparison.statistics import (
    Numbers,
    binned,
    kolmogorov,
    quantile,
    ratio_apart,
)
from reports.trace.comparison.wording import arrow, change

QUANTILES = {"median": (0.5, "at the median"), "p90": (0.9, "at the 90th percentile")}
LEAST_SECONDS = 1e-3


@dataclass(frozen=True, slots=True)
class LengthLaw:
    """A law that is compared.

    Parameters
    ----------
    name
        By which JSON has its differences.
    what, more, less, same, values
        Its words: "prompts are", "longer", "shorter", "as long", "prompt lengths".
    quantiles
        Which of QUANTILES are compared beside the law itself.
    """

    name: str
    what: str
    more: str
    less: str
    same: str
    values: str
    quantiles: tuple[str, ...] = ("median",)


def law_differences(
    law: LengthLaw,
    unit: str,
    sides: Sides,
    values: Sequence[Numbers],
    chance: Chance,
    requests: Sequence[Int64] | None = None,
    weights: Sequence[Int64] | None = None,
) -> Iterator[Difference]:
    """Yield the differences of quantiles of a law, and of the law itself.

    Parameters
    ----------
    values, requests, weights
        Of each value of both traces: itself, the request that it is of (without them each request
        has one), and how much it counts.
    """
    tables, points = binned(sides, values, requests, weights)
    least = LEAST_SECONDS if unit == "seconds" else 1.0
    for name in law.quantiles:
        share, place = QUANTILES[name]
        a, b = (
            float(np.quantile(each, share, weights=weight, method="inverted_cdf"))
            for each, weight in zip(values, weights or (None, None), strict=True)
        )
        how = change(a, b, law.more, law.less, law.same)
        sentence = f"{law.what} {how} {place} {arrow(a, b, unit)}"
        p_value = chance.p_value(tables, ratio_apart(quantile(share, points, least)))
        yield ratio(f"{law.name}_{name}", a, b, unit, sentence, p_value)
    apart = _kolmogorov(values, weights)
    yield distance(
        f"{law.name}_law",
        apart,
        "Kolmogorov-Smirnov distance",
        f"the distributions of {law.values} are {apart:.2f} apart (Kolmogorov-Smirnov, 0 to 1)",
        chance.p_value(tables, kolmogorov),
    )


def _kolmogorov(values: Sequence[Numbers], weights: Sequence[Int64] | None) -> float:
    """Return the greatest difference of two distribution functions, from all values."""
    points = np.unique(np.concatenate(values))
    one, other = (
        np.bincount(np.searchsorted(points, each), weight, minlength=len(points)).astype(float)[
            None
        ]
        for each, weight in zip(values, weights or (None, None), strict=True)
    )
    return float(kolmogorov(one, other)[0])

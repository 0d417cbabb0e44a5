"""Differences of distributions: prompt and output lengths, overlaps, waits, the mix of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference, distance, ratio
from reports.trace.comparison.sides import Float64, Int64, Sides
from reports.trace.comparison.statistics import (
    Numbers,
    binned,
    kolmogorov,
    quantile,
    ratio_apart,
    summed,
)
from reports.trace.comparison.wording import arrow, change, moved
from simulator.base.errors import printable
from simulator.trace.trace import NO_LABEL, Trace

QUANTILES = {"median": (0.5, "at the median"), "p90": (0.9, "at the 90th percentile")}
LEAST_SECONDS = 1e-3
MOST_LABELS = 50  # all other labels are counted as one
LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class LengthLaw:
    """A distribution that is compared, with its wording.

    Parameters
    ----------
    name
        The prefix of its differences in JSON.
    what, more, less, same, values
        Words for sentences: "prompts are", "longer", "shorter", "as long", "prompt lengths".
    quantiles
        Which of QUANTILES are compared in addition to the whole distribution.
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
    """Yield the differences of quantiles of a distribution, and of the whole distribution.

    Parameters
    ----------
    values, requests, weights
        For both traces: the values, the index of each value's request (by default the values are
        one a request), and the weight of each value (by default 1).
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
    """Return the Kolmogorov distance of two weighted samples: the greatest CDF difference."""
    points = np.unique(np.concatenate(values))
    one, other = (
        np.bincount(np.searchsorted(points, each), weight, minlength=len(points)).astype(float)[
            None
        ]
        for each, weight in zip(values, weights or (None, None), strict=True)
    )
    return float(kolmogorov(one, other)[0])


def label_difference(sides: Sides, chance: Chance) -> Difference | None:
    """Return the total variation distance of the label mixes; None where a trace has no labels."""
    traces = [side.trace for side in sides]
    if any((trace.label == NO_LABEL).all() for trace in traces):
        return None
    names = _names(traces)
    counts = [np.eye(len(names) + 1)[_places(trace, names)] for trace in traces]
    a, b = (each.mean(axis=0) for each in counts)
    apart, most = float(np.abs(a - b).sum() / 2), int(np.abs(b - a).argmax())
    named = [f"'{printable(name, LONGEST_NAME)}'" for name in names] + ["that of all others"]
    how = moved(float(a[most]), float(b[most]), "share")
    sentence = "labels are mixed alike"
    if apart:
        sentence = (
            f"the mixes of labels are {apart:.2f} apart (total variation, 0 to 1): most of all the "
            f"share of {named[most]} {how}"
        )
    p_value = chance.p_value(summed(sides, counts), _variation)
    return distance("label_mix", apart, "total variation distance", sentence, p_value)


def _names(traces: list[Trace]) -> list[str]:
    """Return the most frequent names of labels in all traces together."""
    counts: dict[str, int] = {}
    for trace in traces:
        known = np.bincount(trace.label[trace.label >= 0], minlength=len(trace.labels)).tolist()
        for name, count in zip(trace.labels, known, strict=True):
            counts[name] = counts.get(name, 0) + count
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_LABELS]


def _places(trace: Trace, names: list[str]) -> Int64:
    """Return the index of each request's label in `names`; len(names) for all other labels."""
    place = {name: at for at, name in enumerate(names)}
    of_label = np.array([*(place.get(name, len(names)) for name in trace.labels), len(names)])
    places: Int64 = of_label[trace.label]  # -1, no label, takes the last entry
    return places


def _variation(one: Float64, other: Float64) -> Float64:
    shares = [counts / counts.sum(axis=1, keepdims=True) for counts in (one, other)]
    apart: Float64 = np.abs(shares[0] - shares[1]).sum(axis=1) / 2
    return apart

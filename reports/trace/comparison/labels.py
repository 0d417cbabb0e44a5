"""The difference of the mix of labels."""

from __future__ import annotations

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference, distance
from reports.trace.comparison.sides import Float64, Int64, Sides
from reports.trace.comparison.statistics import summed
from reports.trace.comparison.wording import moved
from simulator.base.errors import printable
from simulator.trace.trace import NO_LABEL, Trace

MOST_LABELS = 50  # the others are counted as one
LONGEST_NAME = 40


def label_difference(sides: Sides, chance: Chance) -> Difference | None:
    """Return how far the mixes are apart (total variation); None where one trace has no labels."""
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
    """Return the most frequent names of labels in both together."""
    counts: dict[str, int] = {}
    for trace in traces:
        known = np.bincount(trace.label[trace.label >= 0], minlength=len(trace.labels)).tolist()
        for name, count in zip(trace.labels, known, strict=True):
            counts[name] = counts.get(name, 0) + count
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_LABELS]


def _places(trace: Trace, names: list[str]) -> Int64:
    """Return the place of each request's label among `names`; behind them that of all others."""
    place = {name: at for at, name in enumerate(names)}
    of_label = np.array([*(place.get(name, len(names)) for name in trace.labels), len(names)])
    places: Int64 = of_label[trace.label]  # no label is -1: the last
    return places


def _variation(one: Float64, other: Float64) -> Float64:
    shares = [counts / counts.sum(axis=1, keepdims=True) for counts in (one, other)]
    apart: Float64 = np.abs(shares[0] - shares[1]).sum(axis=1) / 2
    return apart

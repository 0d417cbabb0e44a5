"""Differences in what a cache could reuse, over spans of equal length of both traces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference, distance, ratio
from reports.trace.comparison.laws import LengthLaw, law_differences
from reports.trace.comparison.sides import Float64, Int64, Side, Sides, seconds_of
from reports.trace.comparison.statistics import (
    Measure,
    Numbers,
    points_apart,
    quotient,
    quotients_of,
    ratio_apart,
    summed,
)
from reports.trace.comparison.wording import arrow, change, moved, with_unit
from workloads.inspection.reuse import CURVE_SPAN, Ramps, lru_savings

CAPACITIES = 48
NEEDED = 0.9  # share of what an unbounded cache saves
OVERLAPS = LengthLaw(
    "overlap", "overlaps are", "longer", "shorter", "as long", "overlaps with earlier prompts"
)
AGAIN = LengthLaw(
    "reuse_wait", "tokens are used again", "later", "sooner", "as late", "times since the last use"
)


def reuse_differences(sides: Sides, chance: Chance) -> Iterator[Difference]:
    """Yield the differences in overlaps and in reuse."""
    yield _share(sides, chance)
    overlap = [side.overlap for side in sides]
    yield from law_differences(OVERLAPS, "tokens", sides, overlap, chance)
    if all(side.used.again.any() for side in sides):
        yield from _waits(sides, chance)
        yield from _curves(sides, chance)


def _share(sides: Sides, chance: Chance) -> Difference:
    columns = [
        np.stack([side.reusable, side.same.prompt_tokens], axis=1).astype(np.float64)
        for side in sides
    ]
    a, b = quotients_of(columns)
    sentence = f"the reusable share of prompt tokens {moved(a, b, 'share')}"
    p_value = chance.p_value(summed(sides, columns), points_apart(quotient))
    return Difference("reusable_share", "share", a, b, "share", b - a, sentence, p_value)


def _waits(sides: Sides, chance: Chance) -> Iterator[Difference]:
    """Yield the differences in the waits of tokens until their next use, weighted by tokens."""
    timed = all(side.periods is not None for side in sides)
    requests, weights = [], []
    waits: list[Numbers] = []
    for used, same in ((side.used, side.same) for side in sides):
        later, before = used.request[used.again], used.before[used.again]
        clock = seconds_of(same) if timed else np.arange(len(same))
        requests.append(later)
        waits.append(clock[later] - clock[before])
        weights.append(used.tokens[used.again])
    unit = "seconds" if timed else "requests"
    yield from law_differences(AGAIN, unit, sides, waits, chance, requests, weights)


def _curves(sides: Sides, chance: Chance) -> Iterator[Difference]:
    """Yield the distance of LRU curves, and the difference in KV that gives 90 % of all savings."""
    savings = [lru_savings(side.same, side.used) for side in sides]
    most = max(each.most for each in savings)
    points = np.unique(
        np.geomspace(max(most / CURVE_SPAN, 1), max(most, 1), CAPACITIES).round().astype(np.int64)
    )
    tables = summed(sides, [_saved(side, points) for side in sides])
    rates = [
        saved(points) / int(side.same.prompt_tokens.sum())
        for saved, side in zip(savings, sides, strict=True)
    ]
    apart = np.abs(rates[1] - rates[0])
    at = int(apart.argmax())
    yield distance(
        "lru_curve",
        float(apart[at]),
        "largest difference of token hit rates",
        f"LRU hit rates differ most in a cache of {with_unit(int(points[at]), 'tokens')} of KV: "
        f"{100 * rates[0][at]:.1f} % -> {100 * rates[1][at]:.1f} %",
        chance.p_value(tables, _curves_apart),
    )
    a, b = (_needed(saved) for saved in savings)
    if a and b:
        how = change(a, b, "more KV", "less KV", "as much KV")
        sentence = f"an LRU cache needs {how} for 90 % of what it can save {arrow(a, b, 'tokens')}"
        p_value = chance.p_value(tables, ratio_apart(_needed_of(points)))
        yield ratio("kv_for_90_percent", a, b, "tokens", sentence, p_value)


def _saved(side: Side, points: Int64) -> Float64:
    """Return tokens saved of each request by caches of each size; the last column is all tokens."""
    again, used = side.used.again, side.used
    request, lengths = used.request[again], side.same.prompt_tokens
    tokens = used.tokens[again] - (used.stop[again] == lengths[request])
    held = np.empty((len(lengths), len(points) + 1))
    for column, point in enumerate(points.tolist()):
        saved = np.clip(point - used.above[again], 0, tokens)
        held[:, column] = np.bincount(request, saved, minlength=len(lengths))
    held[:, -1] = lengths
    return held


def _curves_apart(one: Float64, other: Float64) -> Float64:
    apart: Float64 = np.abs(one[:, :-1] / one[:, -1:] - other[:, :-1] / other[:, -1:]).max(axis=1)
    return apart


def _needed(saved: Ramps) -> int:
    """Return the least capacity that saves 90 % of what an unbounded cache saves."""
    whole = int(saved(np.array([saved.most]))[0])
    return saved.least(NEEDED * whole, saved.most)


def _needed_of(points: Int64) -> Measure:
    """Return the measure that interpolates `_needed` linearly from savings at some capacities."""

    def needed(sums: Float64) -> Float64:
        saved = sums[:, :-1]
        wanted = NEEDED * saved[:, -1]
        at = (saved >= wanted[:, None]).argmax(axis=1)
        rows, before = np.arange(len(saved)), np.maximum(at - 1, 0)
        low, high = saved[rows, before], saved[rows, at]
        share = np.where(high > low, (wanted - low) / np.where(high > low, high - low, 1), 1.0)
        capacity: Float64 = points[before] + share * (points[at] - points[before])
        return capacity

    return needed

"""Differences of what a cache could reuse, over the same span of both traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from reports.trace.comparison.chance import Chance
from reports.trace.comparison.differences import Difference
from reports.trace.comparison.lengths import Words, law_differences
from reports.trace.comparison.sides import Float64, Int64, Side
from reports.trace.comparison.statistics import points_apart, quotient, ratio_apart, summed
from reports.trace.comparison.wording import arrow, change, moved, with_unit
from workloads.inspection.reuse import CURVE_SPAN, Ramps, lru_savings

CAPACITIES = 48
NEEDED = 0.9  # of what an unbounded cache saves
OVERLAPS = Words("overlaps are", "longer", "shorter", "as long", "overlaps with earlier prompts")
AGAIN = Words("tokens are used again", "later", "sooner", "as late", "times since the last use")


def reuse_differences(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    """Yield what differs in overlaps and in reuse."""
    yield _share(sides, chance)
    every = (np.arange(len(sides[0].same)), np.arange(len(sides[1].same)))
    overlap = (sides[0].overlap, sides[1].overlap)
    yield from law_differences(
        "overlap", OVERLAPS, "tokens", sides, every, overlap, chance, quantiles=("median",)
    )
    if not all(side.used.again.any() for side in sides):
        return
    yield from _waits(sides, chance)
    yield from _curves(sides, chance)


def _share(sides: tuple[Side, Side], chance: Chance) -> Difference:
    columns = [
        np.stack([side.reusable, side.same.prompt_tokens], axis=1).astype(np.float64)
        for side in sides
    ]
    a, b = (float(each[:, 0].sum() / each[:, 1].sum()) for each in columns)
    every = (np.arange(len(columns[0])), np.arange(len(columns[1])))
    tables = summed(sides, every, (columns[0], columns[1]))
    return Difference(
        "reusable_share",
        "share",
        a,
        b,
        "share",
        b - a,
        f"the reusable share of prompt tokens {moved(a, b)}",
        chance.p_value(tables, points_apart(quotient)),
    )


def _waits(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    """Yield how long tokens wait for their next use; every token counts as one."""
    timed = all(side.period_seconds is not None for side in sides)
    requests, waits, weights = [], [], []
    for side in sides:
        again, used = side.used.again, side.used
        later, before = used.request[again], used.before[again]
        times = side.same.arrival_seconds
        requests.append(later)
        waits.append(
            times[later] - times[before] if timed and times is not None else later - before
        )
        weights.append(used.tokens[again])
    yield from law_differences(
        "reuse_wait",
        AGAIN,
        "seconds" if timed else "requests",
        sides,
        (requests[0], requests[1]),
        (waits[0], waits[1]),
        chance,
        weights=(weights[0], weights[1]),
        least=1e-3 if timed else 1.0,
        quantiles=("median",),
    )


def _curves(sides: tuple[Side, Side], chance: Chance) -> Iterator[Difference]:
    """Yield how far LRU curves are apart, and the KV that saves nearly all of what can be."""
    savings = [lru_savings(side.same, side.used) for side in sides]
    most = max(each.most for each in savings)
    points = np.unique(
        np.geomspace(max(most / CURVE_SPAN, 1), max(most, 1), CAPACITIES).round().astype(np.int64)
    )
    tables = summed(sides, *_saved(sides, points))
    rates = [
        saved(points) / int(side.same.prompt_tokens.sum())
        for saved, side in zip(savings, sides, strict=True)
    ]
    apart = np.abs(rates[1] - rates[0])
    at = int(apart.argmax())
    where = with_unit(int(points[at]), "tokens")
    yield Difference(
        "lru_curve",
        "distance",
        None,
        None,
        "largest difference of token hit rates",
        float(apart[at]),
        f"LRU hit rates differ most in a cache of {where} of KV: "
        f"{100 * rates[0][at]:.1f} % -> {100 * rates[1][at]:.1f} %",
        chance.p_value(tables, _curves_apart),
    )
    a, b = (_needed(saved) for saved in savings)
    if a and b:
        how = change(b / a, "more KV", "less KV", "as much KV") if a != b else "as much KV"
        yield Difference(
            "kv_for_90_percent",
            "ratio",
            a,
            b,
            "tokens",
            b / a,
            f"an LRU cache needs {how} for 90 % of what it can save {arrow(a, b, 'tokens')}",
            chance.p_value(tables, ratio_apart(_needed_of(points))),
        )


def _saved(
    sides: tuple[Side, Side], points: Int64
) -> tuple[tuple[Int64, Int64], tuple[Float64, Float64]]:
    """Return what caches of each size save of each request, and in the last column its tokens."""
    requests, columns = [], []
    for side in sides:
        again, used = side.used.again, side.used
        request, lengths = used.request[again], side.same.prompt_tokens
        tokens = used.tokens[again] - (used.stop[again] == lengths[request])
        held = np.empty((len(lengths), len(points) + 1))
        for column, point in enumerate(points.tolist()):
            saved = np.clip(point - used.above[again], 0, tokens)
            held[:, column] = np.bincount(request, saved, minlength=len(lengths))
        held[:, -1] = lengths
        requests.append(np.arange(len(lengths)))
        columns.append(held)
    return (requests[0], requests[1]), (columns[0], columns[1])


def _curves_apart(one: Float64, other: Float64) -> Float64:
    apart: Float64 = np.abs(one[:, :-1] / one[:, -1:] - other[:, :-1] / other[:, -1:]).max(axis=1)
    return apart


def _needed(saved: Ramps) -> int:
    """Return the least capacity that saves 90 % of what an unbounded cache saves."""
    whole = int(saved(np.array([saved.most]))[0])
    return saved.least(NEEDED * whole, saved.most)


def _needed_of(points: Int64) -> Callable[[Float64], Float64]:
    """Return the same from sums at some capacities, between which curves are taken as straight."""

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

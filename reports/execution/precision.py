"""Widths of the intervals of a study, to which `study.until_ci` sets a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reports.results.points import WorldPoints
from reports.statistics import Estimate


def widest(worlds: Sequence[WorldPoints]) -> float:
    """Return the widest interval: half of it, as a share of the mean that it is about.

    Of each point that has a baseline it is the interval of the paired difference, as a share of
    the larger of the two means; of the others that of the metric. Infinity where one that has a
    value has no interval.
    """
    return max((share for world in worlds for share in _shares(world)), default=0.0)


def _shares(world: WorldPoints) -> Iterator[float]:
    for point in world.points.values():
        base = world.baseline_of(point)
        hit_rate = base.token_hit_rate if base else None
        ttft = base.ttft_seconds if base else None
        yield _share(point.token_hit_rate, hit_rate, point.token_hit_rate_difference)
        yield _share(point.ttft_seconds, ttft, point.ttft_difference)


def _share(own: Estimate | None, theirs: Estimate | None, difference: Estimate | None) -> float:
    """Return half the interval as a share of the larger mean; zero where nothing varies."""
    if own is None:  # nothing to divide by, which more replications do not change
        return 0.0
    about = difference or own
    if about.low is None or about.high is None:
        return math.inf
    half = (about.high - about.low) / 2
    scale = max(abs(own.value), abs(theirs.value) if theirs else 0.0)
    return half / scale if half else 0.0

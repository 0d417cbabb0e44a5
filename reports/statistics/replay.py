"""Intervals from a single replay, by its blocks of time, sessions or documents."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from reports.statistics.estimate import Estimate, t_interval
from reports.statistics.parts import Statistic
from reports.statistics.waves import FEWEST_MEMORIES, FEWEST_PARTS, Floats, error_of, waves

FEWEST_CLUSTERS = 4


def replay_difference(ours: Statistic, theirs: Statistic | None, memory: float = 0.0) -> Estimate:
    """Return `ours - theirs` (or `ours` alone) with an interval from consecutive blocks of time.

    Parameters
    ----------
    ours, theirs
        Numbers made of the same blocks of time, in their order.
    memory
        For how many blocks a block is remembered, as far as that is known: infinite where a queue
        grows. What lasts longer than one block is looked for in the numbers themselves besides.

    There is no interval, and `reason` says why, where the blocks are fewer than eight times the
    memory.
    """
    value, influence = _together(ours, theirs)
    reason = too_short(ours.parts, memory)
    if not np.isfinite(influence).all() or reason:
        return Estimate(value, count=ours.parts, reason=reason)
    error, freedom = error_of(waves(influence[:, None]), ours.parts, memory)
    return t_interval(value, float(error[0]), float(freedom[0]), "blocks", ours.parts)


def too_short(parts: int, memory: float) -> str:
    """Return why there are too few blocks for an interval; empty where there are enough."""
    if parts < FEWEST_PARTS:
        return f"too short to tell: {parts} blocks of time, of which {FEWEST_PARTS} are needed"
    if not math.isfinite(memory):
        return "the queue grows: a longer replay would have another mean"
    memories = parts / memory if memory else math.inf
    if memories >= FEWEST_MEMORIES:
        return ""
    return (
        f"too short to tell: it lasts {memories:.1f} times as long as requests are remembered, and "
        f"{FEWEST_MEMORIES:.0f} times are needed"
    )


def clustered_difference(
    ours: Statistic, theirs: Statistic | None, method: Literal["sessions", "documents"]
) -> Estimate:
    """Return `ours - theirs` (or `ours` alone) with an interval from independent parts.

    A few large parts among many small ones tell little: the degrees of freedom come from Kish's
    effective number of parts, `sum(size)^2 / sum(size^2)`, and fewer than four of those give no
    interval.

    References
    ----------
    Carter, Schnepel and Steigerwald (2017), "Asymptotic behavior of a t test robust to cluster
    heterogeneity".
    """
    value, influence = _together(ours, theirs)
    even = ours.even_parts if theirs is None else min(ours.even_parts, theirs.even_parts)
    if even < FEWEST_CLUSTERS or not np.isfinite(influence).all():
        return Estimate(value, count=ours.parts)
    error = math.sqrt(float(np.square(influence).sum()) * even / (even - 1))
    return t_interval(value, error, even - 1, method, ours.parts)


def _together(ours: Statistic, theirs: Statistic | None) -> tuple[float, Floats]:
    """Return the value of the statistic, and each part's influence on its error."""
    if theirs is None:
        return ours.value, ours.influence
    return ours.value - theirs.value, ours.influence - theirs.influence

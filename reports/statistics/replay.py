"""Confidence intervals from a single replay, by its blocks of time, sessions or documents."""

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
        Statistics over the same blocks of time, in chronological order.
    memory
        Correlation length in blocks, as far as it is known; infinite where a queue grows.
        Autocorrelation over several blocks is also estimated from the statistics themselves.

    If there are fewer than eight blocks, or fewer than eight times `memory`, the estimate has no
    interval and its `reason` gives the cause.
    """
    value, influence = _together(ours, theirs)
    reason = too_short(ours.parts, memory)
    if not np.isfinite(influence).all() or reason:
        return Estimate(value, count=ours.parts, reason=reason)
    error, freedom = error_of(waves(influence[:, None]), ours.parts, memory)
    return t_interval(value, float(error[0]), float(freedom[0]), "blocks", ours.parts)


def too_short(parts: int, memory: float) -> str:
    """Return the reason why there are too few blocks for an interval; empty if there are enough."""
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

    A few large parts among many small ones carry little information. So the degrees of freedom are
    Kish's effective number of parts, `sum(size)^2 / sum(size^2)`, less one. With an effective
    number below four there is no interval.

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
    """Return the difference (or `ours` alone), and the influence of each part on its error."""
    if theirs is None:
        return ours.value, ours.influence
    return ours.value - theirs.value, ours.influence - theirs.influence

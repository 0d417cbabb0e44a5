"""Timestamp resolution: how to find it, and how to spread arrivals within it.

If timestamps are coarse, such as whole seconds, many requests seem to arrive at once. Such
bursts are artefacts of the clock, and lengthen the queues in a simulation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from workloads.randomness import stream

RESOLUTION_SECONDS = 1e-6
TOLERANCE = 0.01  # of a tick, by which a gap may differ from a multiple
IN_STEP = 0.95  # share of the gaps between different times that must be multiples of the tick


def tick_seconds(times: NDArray[np.float64]) -> float | None:
    """Return the resolution of timestamps, called tick.

    It is a typical gap between different times (their median, or a lower quantile where ticks
    without arrivals are common) of which nearly all gaps are multiples to within a hundredth, since
    real clocks are sometimes a millisecond late. If there is no such gap, it is the greatest common
    divisor of all gaps in whole microseconds.

    Parameters
    ----------
    times
        Shape (requests,), ascending, in seconds.

    Returns
    -------
    Seconds; None for fewer than three different times, which are too few to tell.
    """
    gaps = np.diff(np.unique(np.asarray(times, dtype=np.float64)))
    if len(gaps) < 2:
        return None
    for usual in np.quantile(gaps, [0.5, 0.25, 0.1, 0.05], method="lower").tolist():
        off = np.abs(gaps / usual - np.rint(gaps / usual))
        if ((off <= TOLERANCE) & (gaps > usual / 2)).mean() >= IN_STEP:
            return float(usual)
    return _resolution(gaps)


def _resolution(gaps: NDArray[np.float64]) -> float:
    """Return the greatest common divisor of time gaps, in microseconds unless they are huge."""
    unit = max(RESOLUTION_SECONDS, float(gaps.sum()) * 2.0**-52)
    whole = np.maximum(np.rint(gaps / unit), 1).astype(np.int64)
    return float(np.gcd.reduce(whole) * unit)


def jitter(times: NDArray[np.float64], tick: float, seed: int) -> NDArray[np.float64]:
    """Spread times uniformly within their tick; they keep their order, and the first becomes 0.

    Requests of one tick get sorted uniform times, as if they had arrived independently: given their
    number, the arrivals within a tick are those of a Poisson process.

    Parameters
    ----------
    times
        Shape (requests,), ascending, in seconds.
    tick
        Timestamp resolution in seconds, above 0; times are assumed to be the starts of ticks.
    seed
        Seed of the draws.

    Raises
    ------
    UsageError
        For a tick that is not finite and above 0, or a seed out of range.
    """
    if not 0 < tick < np.inf:
        raise UsageError(f"tick: expected seconds above 0, found {tick!r}")
    spread = np.sort(times + tick * stream(seed, "jitter").random(len(times)))
    return spread - spread[:1]

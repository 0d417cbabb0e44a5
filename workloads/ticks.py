"""Ticks: times that a source has rounded, and how to spread them again.

Where arrivals are told in ticks of seconds, many requests seem to come at once. Such bursts are
of the clock, not of the traffic, and a queue that is simulated on them is longer than it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from workloads.randomness import stream

RESOLUTION_SECONDS = 1e-6
TOLERANCE = 0.01  # of a tick, by which a time may be out of step
IN_STEP = 0.95  # of the gaps between different times


def tick_seconds(times: NDArray[np.float64]) -> float | None:
    """Return the tick in which times are told.

    That is a usual gap between different times (their median, or a lower quantile where ticks
    without arrivals are common) of which nearly all gaps are multiples, to a hundredth: real
    clocks are a millisecond late now and then. Where there is no such gap it is the greatest
    common divisor of all gaps in whole microseconds: the resolution of times without a tick.

    Parameters
    ----------
    times
        Shape (requests,), ascending, in seconds.

    Returns
    -------
    Seconds; None where there are fewer than three different times, among which any two would
    make a tick.
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
    """Return the greatest common divisor of gaps, in whole microseconds unless they are huge."""
    unit = max(RESOLUTION_SECONDS, float(gaps.sum()) * 2.0**-52)
    whole = np.maximum(np.rint(gaps / unit), 1).astype(np.int64)
    return float(np.gcd.reduce(whole) * unit)


def jitter(times: NDArray[np.float64], tick: float, seed: int) -> NDArray[np.float64]:
    """Spread times uniformly within their tick; their order stays, and the first becomes 0.

    Requests of one tick get the order statistics of as many uniform times, as if they had come
    independently: within a tick the traffic is Poisson, given how many came.

    Parameters
    ----------
    times
        Shape (requests,), ascending, in seconds.
    tick
        In seconds, above 0; times are taken to be the starts of ticks.
    seed
        Of the draws.

    Raises
    ------
    UsageError
        For a tick that is not finite and above 0, or a seed out of range.
    """
    if not 0 < tick < np.inf:
        raise UsageError(f"tick: expected seconds above 0, found {tick!r}")
    spread = np.sort(times + tick * stream(seed, "jitter").random(len(times)))
    return spread - spread[:1]

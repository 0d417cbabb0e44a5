"""Arrival times for traces that tell none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.errors import UsageError
from workloads.randomness import stream

MIN_RATE_PER_SECOND = 1e-6
MAX_RATE_PER_SECOND = 1e6


def poisson_arrivals(count: int, rate_per_second: float, seed: int) -> NDArray[np.float64]:
    """Return `count` ascending times in seconds of a Poisson process, the first at 0.

    Raises
    ------
    UsageError
        For a negative count, a rate out of range or not finite, or a seed out of range.
    """
    if count < 0:
        raise UsageError(f"arrivals: expected a count of at least 0, found {count}")
    check_rate(rate_per_second)
    gaps = stream(seed, "arrivals").exponential(1 / rate_per_second, size=max(count - 1, 0))
    return np.concatenate([np.zeros(min(count, 1)), np.cumsum(gaps)])


def check_rate(rate_per_second: float) -> None:
    """Raise `UsageError` where an arrival rate is not finite or out of range."""
    if not MIN_RATE_PER_SECOND <= rate_per_second <= MAX_RATE_PER_SECOND:
        limits = f"{MIN_RATE_PER_SECOND:g} to {MAX_RATE_PER_SECOND:g} requests/s"
        raise UsageError(f"arrival rate: expected {limits}, found {rate_per_second:g}")

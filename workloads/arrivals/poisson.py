"""Poisson arrivals."""

from __future__ import annotations

from dataclasses import dataclass

from workloads.arrivals.base import ArrivalProcess, Float64, check_rate, from_gaps
from workloads.randomness import stream


@dataclass(frozen=True, slots=True)
class Poisson(ArrivalProcess):
    """Arrivals independent of each other: exponential gaps, of a cv of 1.

    Parameters
    ----------
    rate
        Requests per second.
    """

    def _draw(self, count: int, seed: int) -> Float64:
        random = stream(seed, "arrivals")
        return from_gaps(random.exponential(1 / self.rate_per_second, size=count - 1))


def poisson_arrivals(count: int, rate_per_second: float, seed: int) -> Float64:
    """Return `count` ascending times in seconds of a Poisson process, the first at 0.

    Raises
    ------
    UsageError
        For a negative count, a rate out of range or not finite, or a seed out of range.
    """
    check_rate(rate_per_second)
    return Poisson(rate_per_second).times(count, seed)

"""Arrivals with gamma-distributed interarrival times."""

from __future__ import annotations

from dataclasses import dataclass

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, from_gaps
from workloads.randomness import stream
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Gamma(ArrivalProcess):
    """Independent gamma-distributed interarrival times: bursty for a cv above 1, regular below.

    The shape is 1 / cv**2. Over long times, the index of dispersion of counts is cv**2.

    Parameters
    ----------
    rate
        Requests per second.
    cv
        Coefficient of variation of interarrival times: standard deviation over mean. 1 is Poisson.
    """

    cv: float = knob(2.0, 0.01, 30.0)

    def _draw(self, count: int, seed: int) -> Float64:
        shape = self.cv**-2
        scale = 1 / (self.rate_per_second * shape)
        return from_gaps(stream(seed, "arrivals").gamma(shape, scale, size=count - 1))

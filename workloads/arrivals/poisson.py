"""Poisson arrivals."""

from __future__ import annotations

from dataclasses import dataclass

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, poisson_arrivals


@dataclass(frozen=True, slots=True)
class Poisson(ArrivalProcess):
    """A Poisson process: independent, exponential interarrival times.

    Parameters
    ----------
    rate
        Requests per second.
    """

    def _draw(self, count: int, seed: int) -> Float64:
        return poisson_arrivals(count, self.rate_per_second, seed)

"""What every arrival process is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from simulator.base.bounds import MAX_RATE_PER_SECOND, MIN_RATE_PER_SECOND
from simulator.base.errors import UsageError
from workloads.spec import Spec, knob

Float64 = NDArray[np.float64]

DEFAULT_RATE_PER_SECOND = 1.0


@dataclass(frozen=True, slots=True)
class ArrivalProcess(Spec):
    """A seeded law of arrival times.

    Parameters
    ----------
    rate
        Requests per second, in the mean over time. None: 1, or the rate that the data have.
    """

    rate: float | None = knob(None, MIN_RATE_PER_SECOND, MAX_RATE_PER_SECOND)

    def times(self, count: int, seed: int) -> Float64:
        """Return `count` ascending times in seconds, the first at 0.

        Raises
        ------
        UsageError
            For a negative count or a seed out of range.
        DataError
            For a file of arrivals that does not hold what it should.
        """
        if count < 0:
            raise UsageError(f"arrivals: expected a count of at least 0, found {count}")
        if count == 0:
            return np.zeros(0)
        times = self._draw(count, seed)
        times -= times[0]
        return times

    @property
    def rate_per_second(self) -> float:
        """The mean rate over time, in requests per second."""
        return DEFAULT_RATE_PER_SECOND if self.rate is None else self.rate

    @property
    def file(self) -> str:
        """The file that the times depend on, empty for none."""
        return ""

    def at_rate(self, rate_per_second: float) -> Self:
        """Return the same process at another rate.

        Raises
        ------
        UsageError
            For a rate out of range.
        """
        check_rate(rate_per_second)
        return replace(self, rate=rate_per_second)

    @abstractmethod
    def _draw(self, count: int, seed: int) -> Float64:
        """Return `count` ascending times, at least one, from any start."""


def check_rate(rate_per_second: float) -> None:
    """Raise `UsageError` where an arrival rate is not finite or out of range."""
    if not MIN_RATE_PER_SECOND <= rate_per_second <= MAX_RATE_PER_SECOND:
        limits = f"{MIN_RATE_PER_SECOND:g} to {MAX_RATE_PER_SECOND:g} requests/s"
        raise UsageError(f"arrival rate: expected {limits}, found {rate_per_second:g}")


def from_gaps(gaps: Float64) -> Float64:
    """Return the times of a renewal process that starts with an arrival."""
    return np.concatenate([np.zeros(1), np.cumsum(gaps)])


def unit_poisson(random: np.random.Generator, count: int) -> Float64:
    """Return a Poisson process of rate 1 that starts with an arrival.

    Mapped by the inverse of a cumulative rate it becomes the Poisson process of that rate (time
    change; Daley and Vere-Jones, An Introduction to the Theory of Point Processes, 7.4).
    """
    return from_gaps(random.standard_exponential(count - 1))

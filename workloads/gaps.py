"""Arrivals drawn by their interarrival times: Poisson processes, and the clients of ServeGen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.base.bounds import MAX_RATE_PER_SECOND, MIN_RATE_PER_SECOND
from simulator.base.errors import UsageError
from workloads.randomness import stream

Float64 = NDArray[np.float64]


def check_rate(rate_per_second: float) -> None:
    """Raise `UsageError` for an arrival rate that is not finite or out of range."""
    if not MIN_RATE_PER_SECOND <= rate_per_second <= MAX_RATE_PER_SECOND:
        limits = f"{MIN_RATE_PER_SECOND:g} to {MAX_RATE_PER_SECOND:g} requests/s"
        raise UsageError(f"arrival rate: expected {limits}, found {rate_per_second:g}")


def poisson_arrivals(count: int, rate_per_second: float, seed: int) -> Float64:
    """Return `count` (at least 1) arrivals of a Poisson process, in seconds, the first at 0.

    Raises
    ------
    UsageError
        For a rate out of range or not finite, or a seed out of range.
    """
    check_rate(rate_per_second)
    return from_gaps(stream(seed, "arrivals").exponential(1 / rate_per_second, size=count - 1))


def from_gaps(gaps: Float64) -> Float64:
    """Return the arrival times for the given interarrival times, starting at 0."""
    return np.concatenate([np.zeros(1), np.cumsum(gaps)])


def unit_poisson(random: np.random.Generator, count: int) -> Float64:
    """Return `count` arrivals of a Poisson process of rate 1, starting at 0.

    Mapping them by the inverse of a cumulative rate gives the Poisson process of that rate (time
    change; Daley and Vere-Jones, An Introduction to the Theory of Point Processes, 7.4).
    """
    return from_gaps(random.standard_exponential(count - 1))


@dataclass(frozen=True, slots=True)
class Client:
    """A client in one window of ServeGen: its request rate and its interarrival distribution."""

    number: int
    rate: float
    pattern: str  # "Gamma" or "Weibull"
    shape: float

    def until(self, seconds: float, seed: int) -> Float64:
        """Draw the times of its requests in [0, seconds), in the steady state.

        The first arrival ends a gap that began before time 0: that gap is drawn with probability
        proportional to its length, and time 0 lies uniformly within it.
        """
        random = stream(seed, f"arrivals of client {self.number}")
        times = np.array([random.random() * self._met_gap(random)])
        while times[-1] < seconds:
            more = 16 + int(1.1 * (seconds - times[-1]) * self.rate)
            times = np.concatenate([times, times[-1] + np.cumsum(self._gaps(random, more))])
        return times[times < seconds]

    def _gaps(self, random: np.random.Generator, count: int) -> Float64:
        if self.pattern == "Gamma":
            return random.gamma(self.shape, 1 / (self.rate * self.shape), size=count)
        return self._weibull_scale() * random.weibull(self.shape, size=count)

    def _met_gap(self, random: np.random.Generator) -> float:
        """Draw the length of the gap that contains a random moment (length-biased)."""
        if self.pattern == "Gamma":
            return float(random.gamma(self.shape + 1, 1 / (self.rate * self.shape)))
        power = random.gamma(1 + 1 / self.shape)
        return float(self._weibull_scale() * power ** (1 / self.shape))

    def _weibull_scale(self) -> float:
        return 1 / (self.rate * math.gamma(1 + 1 / self.shape))

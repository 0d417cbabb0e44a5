"""Diurnal arrivals: a Poisson process with a daily cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, unit_poisson
from workloads.randomness import stream
from workloads.spec import knob

_KNOTS = 1 << 16  # of the tabulated inverse: times are off by less than 1/65,536 of a period


@dataclass(frozen=True, slots=True)
class Diurnal(ArrivalProcess):
    """A Poisson process whose rate is a sinusoid: rate * (1 + amplitude * sin(2 pi u)).

    Here u is `start` plus the time since the first request, in periods. Times are drawn by
    inverting the cumulative rate.

    Parameters
    ----------
    rate
        Mean requests per second over a period.
    amplitude
        Peak rate over mean rate, minus 1: 0 is Poisson, at 1 the rate falls to 0 once a period.
    period
        Length of a period in seconds; one day by default.
    start
        Phase at which the trace begins, in periods: 0 is the mean, rising; 0.25 the peak; 0.75 the
        trough.
    """

    amplitude: float = knob(0.5, 0.0, 1.0)
    period: float = knob(86_400.0, 1e-3, 1e9)
    start: float = knob(0.0, 0.0, 1.0)

    def _draw(self, count: int, seed: int) -> Float64:
        points = unit_poisson(stream(seed, "arrivals"), count)
        periods = points / (self.rate_per_second * self.period) + self._come(self.start)
        whole = np.floor(periods)
        knots = np.linspace(0.0, 1.0, _KNOTS + 1)
        within = np.interp(periods - whole, self._come(knots), knots)
        return self.period * (whole + within)

    def _come(self, u: Float64 | float) -> Float64:
        """Return the share of a period's requests that arrive before phase `u`."""
        return np.asarray(u + self.amplitude * (1 - np.cos(2 * math.pi * u)) / (2 * math.pi))

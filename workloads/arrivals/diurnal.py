"""Diurnal arrivals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, unit_poisson
from workloads.randomness import stream
from workloads.spec import knob

_KNOTS = 1 << 16  # of the inverse within a period: times are off by less than a 65,536th of it


@dataclass(frozen=True, slots=True)
class Diurnal(ArrivalProcess):
    """A Poisson process whose rate is a sinusoid: rate * (1 + amplitude * sin(2 pi u)).

    u is `start` plus the periods since the first request. Times come by inversion of the
    cumulative rate.

    Parameters
    ----------
    rate
        Requests per second, in the mean over a period.
    amplitude
        Peak over mean, less 1: 0 is Poisson, 1 falls silent once a period.
    period
        Seconds, a day unless told.
    start
        Where in the period the trace begins: 0 is the mean, rising; 0.25 the peak; 0.75 the
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
        """Return what has come in a period until `u`, as a share of the period's requests."""
        return np.asarray(u + self.amplitude * (1 - np.cos(2 * math.pi * u)) / (2 * math.pi))

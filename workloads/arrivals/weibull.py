"""Arrivals with Weibull-distributed interarrival times."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, from_gaps
from workloads.randomness import stream
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Weibull(ArrivalProcess):
    """Independent Weibull interarrival times; for a cv above 1, heavier-tailed than gamma ones.

    Parameters
    ----------
    rate
        Requests per second.
    cv
        Coefficient of variation of interarrival times: standard deviation over mean. 1 is Poisson.
    """

    cv: float = knob(2.0, 0.01, 15.0)

    def _draw(self, count: int, seed: int) -> Float64:
        shape = shape_of_cv(self.cv)
        scale = 1 / (self.rate_per_second * math.gamma(1 + 1 / shape))
        return from_gaps(scale * stream(seed, "arrivals").weibull(shape, size=count - 1))


def shape_of_cv(cv: float) -> float:
    """Return the Weibull shape k for a coefficient of variation.

    It solves cv**2 = G(1 + 2/k) / G(1 + 1/k)**2 - 1, with G the gamma function.
    """
    from scipy.optimize import brentq

    def excess(log_shape: float) -> float:
        inverse = math.exp(-log_shape)
        moments = math.lgamma(1 + 2 * inverse) - 2 * math.lgamma(1 + inverse)
        return moments - math.log1p(cv**2)

    return math.exp(brentq(excess, math.log(0.15), math.log(1000)))

"""Arrivals with one flash crowd."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64, unit_poisson
from workloads.randomness import stream
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Flash(ArrivalProcess):
    """A Poisson process with one flash crowd: a jump of the rate that decays exponentially.

    From `start` on the rate is rate * (1 + height * exp(-(t - start) / decay)), so the crowd adds
    rate * height * decay requests in the mean. Times are drawn by inverting the cumulative rate,
    which has a closed form (Lambert W).

    Parameters
    ----------
    rate
        Requests per second without the crowd.
    height
        Rate that the crowd adds at its start, as a multiple of `rate`.
    start
        Seconds from the first request to the crowd.
    decay
        Seconds in which the added rate falls to 1/e.
    """

    height: float = knob(10.0, 0.0, 1e4)
    start: float = knob(600.0, 0.0, 1e9)
    decay: float = knob(120.0, 1e-3, 1e9)

    def _draw(self, count: int, seed: int) -> Float64:
        from scipy.special import wrightomega

        times = unit_poisson(stream(seed, "arrivals"), count) / self.rate_per_second
        late = times > self.start
        # s + height * (1 - exp(-s)) = come, for s = (t - start) / decay
        come = (times[late] - self.start) / self.decay
        offset = self.height - come
        if self.height > 0:
            times[late] = self.start + self.decay * (
                wrightomega(math.log(self.height) + offset) - offset
            )
        return times

"""Arrival times taken from a trace file, at the recorded or another rate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simulator.base.errors import DataError, UsageError
from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Float64


@dataclass(frozen=True, slots=True)
class Recorded(ArrivalProcess):
    """The arrival times of a trace file, scaled to a rate and repeated if they are too few.

    Parameters
    ----------
    rate
        Mean requests per second over the whole trace. None: as recorded.
    path
        A trace file in any recognised format. Empty: the times of the trace being replayed.
    """

    path: str = ""

    @property
    def file(self) -> str:
        """The file at `path`."""
        return self.path

    @property
    def rate_per_second(self) -> float:
        """Mean rate over the trace, in requests per second."""
        return self.rate or _rate(self._recorded())

    def stretched(self, times: Float64) -> Float64:
        """Return a trace's arrival times in seconds since its start, scaled to this process's rate.

        Raises
        ------
        UsageError
            If all times are equal, so that no rate is defined.
        """
        if self.rate is not None and not (len(times) > 1 and times[-1] > times[0]):
            raise UsageError("arrivals 'trace': the trace's times do not differ: they have no rate")
        factor = 1.0 if self.rate is None else _rate(times) / self.rate
        scaled: Float64 = times * factor
        return scaled

    def _draw(self, count: int, seed: int) -> Float64:
        times = self.stretched(self._recorded())
        cycle = times[-1] + 1 / _rate(times)
        repeats = np.arange(-(-count // len(times)))
        repeated: Float64 = (repeats[:, None] * cycle + times).ravel()[:count]
        return repeated

    def _recorded(self) -> Float64:
        from workloads.opening import open_trace

        if not self.path:
            raise UsageError("arrivals 'trace': expected a path, since the requests have no times")
        times = open_trace(Path(self.path)).arrival_seconds
        if times is None or len(times) < 2 or times[-1] <= times[0]:
            raise DataError(self.path, "expected two requests or more with times that differ")
        times -= times[0]
        return times


def _rate(times: Float64) -> float:
    return float((len(times) - 1) / (times[-1] - times[0]))

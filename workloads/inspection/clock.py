"""The time axis of statistics: seconds, or request numbers where a trace has no times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class TraceClock:
    """The position of each request on the time axis, starting at 0.

    Parameters
    ----------
    times
        float64, shape (requests,), ascending: seconds, or the request's number.
    unit
        "seconds" or "requests".
    """

    times: NDArray[np.float64]
    unit: Literal["seconds", "requests"]

    @property
    def span(self) -> float:
        """Distance from the first request to the last, in `unit`."""
        return float(self.times[-1])


def clock_of(trace: Trace) -> TraceClock:
    """Return the seconds of a trace, or request numbers if it has no different times."""
    times = trace.arrival_seconds
    if times is None or not times[-1] > times[0]:
        return TraceClock(np.arange(len(trace), dtype=np.float64), "requests")
    return TraceClock(times - times[0], "seconds")

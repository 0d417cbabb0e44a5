"""Server load: offered load, utilisation, and whether the queue grows.

All figures cover the time from the first counted arrival to the last. The idle time after the last
arrival is excluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.results.records import FINISHED, UNFINISHED

Float64 = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a server. All but `queue_grows` are None if no time passes between arrivals.

    Parameters
    ----------
    offered_load_nothing_saved
        Seconds of prefill arriving per second if every prompt were computed in full.
    offered_load
        Seconds of service (loading states, prefill, storing states) arriving per second, with the
        cache as simulated. A request that was not served counts with its full prefill time, scaled
        by the ratio of service to full prefill of the others. Above 1 the server is overloaded.
    offered_load_last_half
        The same for the last half of the time.
    utilisation
        Fraction of the time that the server was busy.
    wait_last_quarter_seconds
        Mean wait of requests arriving in the last quarter of the time. A request still waiting at
        the horizon counts with the wait that the work before it implies.
    queue_grows
        Whether, over the whole time or its last half, the offered load exceeds 1 and the mean wait
        in the later half of that period exceeds that in the earlier half by more than a mean
        service time.
    """

    offered_load_nothing_saved: float | None = None
    offered_load: float | None = None
    offered_load_last_half: float | None = None
    utilisation: float | None = None
    wait_last_quarter_seconds: float | None = None
    queue_grows: bool = False


def load_of(columns: Columns, full_seconds: Float64, first: int, ended_seconds: float) -> Load:
    """Compute the load of a server that serves one request after another.

    Parameters
    ----------
    columns
        Columns of a result, one row per request in order of arrival.
    full_seconds
        Prefill time of each request without a cache.
    first
        Index of the first row that counts (after warm-up).
    ended_seconds
        End of the simulation.
    """
    arrival = columns["arrival_seconds"]
    if first >= len(arrival) or arrival[-1] <= arrival[first]:
        return Load()
    work = _Work.of(columns, full_seconds, first)
    begin, end = float(arrival[first]), float(arrival[-1])
    last = end - (end - begin) / 4
    return Load(
        work.per_second(work.full, begin, end),
        work.per_second(work.demand, begin, end),
        work.per_second(work.demand, (begin + end) / 2, end),
        _busy_seconds(columns, begin, end, ended_seconds) / (end - begin),
        work.mean_wait(last, np.inf),
        work.grows(begin, end) or work.grows((begin + end) / 2, end),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Times of the counted requests in seconds; `wait` is NaN for rejected ones.

    `full` is the prefill without a cache, `demand` the service time as simulated.
    """

    arrival: Float64
    full: Float64
    demand: Float64
    wait: Float64

    @classmethod
    def of(cls, columns: Columns, full: Float64, first: int) -> _Work:
        """Build the times from the result's rows, without warm-up (those before `first`)."""
        rows = {name: column[first:] for name, column in columns.items()}
        full, finished = full[first:], rows["status"] == FINISHED
        service = _service(rows)
        paid = float(full[finished].sum())
        share = float(service[finished].sum()) / paid if paid else 1.0
        demand = np.where(finished, service, share * full)
        wait = np.where(finished, rows["wait_seconds"], np.nan)
        left = rows["status"] == UNFINISHED
        if left.any():
            free = float(_stops(columns).max(initial=0.0))
            wait[left] = _waits(rows["arrival_seconds"][left], demand[left], free)
        return cls(rows["arrival_seconds"], full, demand, wait)

    def per_second(self, seconds: Float64, begin: float, end: float) -> float:
        """Return the seconds of work of requests arriving in [begin, end), per second of time."""
        inside = (self.arrival >= begin) & (self.arrival < end)
        return float(seconds[inside].sum()) / (end - begin)

    def mean_wait(self, begin: float, end: float) -> float | None:
        """Return the mean wait of requests arriving in [begin, end), None if there are none."""
        inside = (self.arrival >= begin) & (self.arrival < end) & np.isfinite(self.wait)
        return float(self.wait[inside].mean()) if inside.any() else None

    def grows(self, begin: float, end: float) -> bool:
        """Tell whether the queue grows from `begin` to `end`, as defined at `Load.queue_grows`."""
        middle = (begin + end) / 2
        before, after = self.mean_wait(begin, middle), self.mean_wait(middle, np.inf)
        if before is None or after is None or self.per_second(self.demand, begin, end) <= 1:
            return False
        return after - before > float(self.demand[self.arrival >= begin].mean())


def _service(rows: Columns) -> Float64:
    """Return the service time of each request: loading states, prefill, storing states."""
    service: Float64 = rows["restore_seconds"] + rows["prefill_seconds"] + rows["capture_seconds"]
    return service


def _stops(columns: Columns) -> Float64:
    """Return the end time of each finished request."""
    finished = columns["status"] == FINISHED
    stops = columns["arrival_seconds"] + columns["wait_seconds"] + _service(columns)
    ended: Float64 = stops[finished]
    return ended


def _waits(arrival: Float64, service: Float64, free: float) -> Float64:
    """Return the waiting times in a queue whose server is free from time `free` on (Lindley)."""
    before = np.cumsum(service) - service
    starts = before + np.maximum.accumulate(np.maximum(arrival, free) - before)
    waits: Float64 = starts - arrival
    return waits


def _busy_seconds(columns: Columns, begin: float, end: float, ended_seconds: float) -> float:
    """Return how many seconds between `begin` and `end` the server was busy."""
    finished = columns["status"] == FINISHED
    stops = _stops(columns)
    starts = stops - _service(columns)[finished]
    left = columns["arrival_seconds"][columns["status"] == UNFINISHED]
    if len(left):  # the first unfinished request was being served at the horizon
        started = max(float(left[0]), float(stops.max(initial=0.0)))
        starts, stops = np.append(starts, started), np.append(stops, ended_seconds)
    return float((stops.clip(begin, end) - starts.clip(begin, end)).sum())

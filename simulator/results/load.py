"""The load of a server: work that arrives, how busy it is, whether its queue grows to the end.

All is of the time from the first counted arrival to the last: the server works on after that,
which would make every server look idle in the end.
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
    """The load of a server. All but `queue_grows` are None where no time passes between arrivals.

    Parameters
    ----------
    offered_load_nothing_saved
        Seconds of prefill that arrive per second, each prompt being computed in full.
    offered_load
        Seconds of service (restore, prefill, capture) that arrive per second, as they were. A
        request that was not served counts with its full prefill times what the served took of
        theirs. Above 1 more arrives than the server can do.
    offered_load_last_half
        The same of the last half of the time.
    utilisation
        The share of the time that the server was busy.
    wait_last_quarter_seconds
        The mean wait of the requests that arrive in the last quarter of the time. One that still
        waited at the horizon counts with what the work before it would have made it wait.
    queue_grows
        Whether, over all of the time or over its last half, the offered load is above 1 and the
        requests of the later half of it wait longer, by more than a mean service time.
    """

    offered_load_nothing_saved: float | None = None
    offered_load: float | None = None
    offered_load_last_half: float | None = None
    utilisation: float | None = None
    wait_last_quarter_seconds: float | None = None
    queue_grows: bool = False


def load_of(columns: Columns, full_seconds: Float64, first: int, ended_seconds: float) -> Load:
    """Return the load of a server that takes one request after another.

    Parameters
    ----------
    columns
        Of a result, one row a request, in the order of arrival.
    full_seconds
        The prefill of each request, nothing being saved.
    first
        The first row that counts.
    ended_seconds
        When the simulation ended.
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
    """Counted requests: arrival, full prefill, service as it was, and wait; NaN if rejected."""

    arrival: Float64
    full: Float64
    demand: Float64
    wait: Float64

    @classmethod
    def of(cls, columns: Columns, full: Float64, first: int) -> _Work:
        """Take the rows from `first` on."""
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
        """Return what arrives from `begin` to just before `end`, per second."""
        inside = (self.arrival >= begin) & (self.arrival < end)
        return float(seconds[inside].sum()) / (end - begin)

    def mean_wait(self, begin: float, end: float) -> float | None:
        """Return the mean wait of those that arrive then; None for none."""
        inside = (self.arrival >= begin) & (self.arrival < end) & np.isfinite(self.wait)
        return float(self.wait[inside].mean()) if inside.any() else None

    def grows(self, begin: float, end: float) -> bool:
        """Whether the queue grows from `begin` to `end`, by the rule of `Load.queue_grows`."""
        middle = (begin + end) / 2
        before, after = self.mean_wait(begin, middle), self.mean_wait(middle, np.inf)
        if before is None or after is None or self.per_second(self.demand, begin, end) <= 1:
            return False
        return after - before > float(self.demand[self.arrival >= begin].mean())


def _service(rows: Columns) -> Float64:
    service: Float64 = rows["restore_seconds"] + rows["prefill_seconds"] + rows["capture_seconds"]
    return service


def _stops(columns: Columns) -> Float64:
    """Return when each finished request ended."""
    finished = columns["status"] == FINISHED
    stops = columns["arrival_seconds"] + columns["wait_seconds"] + _service(columns)
    ended: Float64 = stops[finished]
    return ended


def _waits(arrival: Float64, service: Float64, free: float) -> Float64:
    """Return the waits of a queue whose server is free from a time on (Lindley)."""
    before = np.cumsum(service) - service
    starts = before + np.maximum.accumulate(np.maximum(arrival, free) - before)
    waits: Float64 = starts - arrival
    return waits


def _busy_seconds(columns: Columns, begin: float, end: float, ended_seconds: float) -> float:
    """Return the seconds between two times in which a request was served."""
    finished = columns["status"] == FINISHED
    stops = _stops(columns)
    starts = stops - _service(columns)[finished]
    left = columns["arrival_seconds"][columns["status"] == UNFINISHED]
    if len(left):  # the first of these was being served at the horizon
        started = max(float(left[0]), float(stops.max(initial=0.0)))
        starts, stops = np.append(starts, started), np.append(stops, ended_seconds)
    return float((stops.clip(begin, end) - starts.clip(begin, end)).sum())

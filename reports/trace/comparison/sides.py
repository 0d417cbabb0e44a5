"""The two traces of a comparison: what is counted of each, and the units that chance deals out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import NO_SESSION, Trace
from workloads.inspection.overlaps import overlaps
from workloads.inspection.uses import Uses, uses
from workloads.slicing.keeping import kept

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Kind = Literal["blocks", "sessions", "periods"]

BLOCKS = 20  # of the shorter trace, and periods
MOST_BLOCKS = 2000  # of the longer one, whose blocks are as long
FEWEST_UNITS = 4
MOST_SESSION_UNITS = 200  # of the trace with more sessions
LEAST_IN_SESSIONS = 0.5  # of the requests, for sessions to stand for them


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of two traces.

    Parameters
    ----------
    trace
        All of it.
    same
        The beginning of it that is as long as the shorter trace: reuse grows with a trace.
    overlap, used
        Of `same`.
    units
        By kind, the unit of each request of `trace`; -1 for none. Of `same` they are the first.
        "blocks" are of equally many requests one after the other.
    periods
        How many requests come in each period, and how many seconds it has, float64 (periods, 2);
        None unless both traces have times.
    """

    trace: Trace
    same: Trace
    overlap: Int64
    used: Uses
    units: dict[Kind, Int64]
    periods: Float64 | None = None

    @property
    def reusable(self) -> Int64:
        """Tokens that each request of `same` could reuse: all but the last of its overlap."""
        return np.minimum(self.overlap, self.same.prompt_tokens - 1)


Sides = tuple[Side, Side]


def sides_of(a: Trace, b: Trace) -> Sides:
    """Return both sides, with units of one size."""
    times = [trace.arrival_seconds for trace in (a, b)]
    spans = [float(each[-1]) for each in times if each is not None and each[-1] > 0]
    span = min(spans) if len(spans) == 2 else None
    period = max(min(spans) / BLOCKS, max(spans) / MOST_BLOCKS) if span else None
    counts = sorted((len(a), len(b)))
    block = max(-(-counts[0] // BLOCKS), -(-counts[1] // MOST_BLOCKS))
    group = -(-max(_sessions(a), _sessions(b)) // MOST_SESSION_UNITS) or 1
    one, other = (
        _side(trace, _same(trace, span, counts[0]), block, period, group) for trace in (a, b)
    )
    for kind in ("blocks", "sessions"):
        if min(_count(one, kind), _count(other, kind)) < FEWEST_UNITS:
            one.units.pop(kind, None)
            other.units.pop(kind, None)
    return one, other


def _count(side: Side, kind: Kind) -> int:
    return int(side.units[kind].max()) + 1 if kind in side.units else 0


def _same(trace: Trace, span: float | None, requests: int) -> Trace:
    """Return the beginning of a trace that is as long as the shorter one, whose span is known."""
    within = min(len(trace), requests)
    if span is not None:
        within = int(np.searchsorted(seconds_of(trace), span, side="right"))
    return trace if within == len(trace) else kept(trace, np.arange(within))


def _side(trace: Trace, same: Trace, block: int, period: float | None, group: int) -> Side:
    """Return a side; `block` requests, `period` seconds and `group` sessions are a unit."""
    last = max(len(trace) // block - 1, 0)  # what is left over belongs to it
    units: dict[Kind, Int64] = {"blocks": np.minimum(np.arange(len(trace)) // block, last)}
    if (trace.session != NO_SESSION).mean() >= LEAST_IN_SESSIONS:
        units["sessions"] = _session_units(trace, group)
    periods = None if period is None else _periods(seconds_of(trace), period)
    return Side(trace, same, overlaps(same), uses(same), units, periods)


def seconds_of(trace: Trace) -> Float64:
    """Return when requests arrive, of a trace with times."""
    assert trace.arrival_seconds is not None
    return trace.arrival_seconds


def _periods(times: Float64, length: float) -> Float64:
    """Return the arrivals in each period, and its length: the last takes what is left."""
    count = max(round(float(times[-1]) / length - 0.5), 1)
    edges = np.append(np.arange(count) * length, times[-1])
    arrivals = np.bincount(np.minimum((times / length).astype(np.int64), count - 1))
    return np.stack([arrivals, np.diff(edges)], axis=1)


def _sessions(trace: Trace) -> int:
    return len(np.unique(trace.session[trace.session != NO_SESSION]))


def _session_units(trace: Trace, group: int) -> Int64:
    """Return units of `group` sessions that begin one after the other."""
    known = trace.session != NO_SESSION
    numbers, first, place = np.unique(trace.session[known], return_index=True, return_inverse=True)
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(numbers))
    units = np.full(len(trace), -1, dtype=np.int64)
    units[known] = rank[place] // group
    return units

"""The two traces of a comparison, with the units of traffic that the permutation tests shuffle."""

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

BLOCKS = 20  # blocks, and periods, of the shorter trace
MOST_BLOCKS = 2000  # blocks of the longer trace, of the same length
FEWEST_UNITS = 4
MOST_SESSION_UNITS = 200  # units of sessions of the trace with more of them
LEAST_IN_SESSIONS = 0.5  # least share of requests in sessions for these to be units


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two traces of a comparison.

    Parameters
    ----------
    trace
        The whole trace.
    same
        Its beginning, as long as the shorter trace: reuse grows with the length of a trace.
    overlap, used
        Overlaps and uses of tokens in `same`.
    units
        Kind of unit -> the unit of each request of `trace`, -1 for none; the requests of `same`
        come first. A unit of the kind "blocks" is a run of consecutive requests.
    periods
        The number of requests in each period and its length in seconds, float64 (periods, 2);
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
        """Tokens each request of `same` could reuse: its overlap, except the last prompt token."""
        return np.minimum(self.overlap, self.same.prompt_tokens - 1)


Sides = tuple[Side, Side]


def sides_of(a: Trace, b: Trace) -> Sides:
    """Return both sides, with units of equal size."""
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
    """Return the beginning of a trace that is as long as the shorter one.

    `span` is the length of the shorter trace in seconds, or None; then `requests` is its length.
    """
    within = min(len(trace), requests)
    if span is not None:
        within = int(np.searchsorted(seconds_of(trace), span, side="right"))
    return trace if within == len(trace) else kept(trace, np.arange(within))


def _side(trace: Trace, same: Trace, block: int, period: float | None, group: int) -> Side:
    """Return a side whose units are `block` requests, `period` seconds and `group` sessions."""
    last = max(len(trace) // block - 1, 0)  # the last block takes the remainder
    units: dict[Kind, Int64] = {"blocks": np.minimum(np.arange(len(trace)) // block, last)}
    if (trace.session != NO_SESSION).mean() >= LEAST_IN_SESSIONS:
        units["sessions"] = _session_units(trace, group)
    periods = None if period is None else _periods(seconds_of(trace), period)
    return Side(trace, same, overlaps(same), uses(same), units, periods)


def seconds_of(trace: Trace) -> Float64:
    """Return the arrival times of a trace that has them, in seconds."""
    assert trace.arrival_seconds is not None
    return trace.arrival_seconds


def _periods(times: Float64, length: float) -> Float64:
    """Return the number of arrivals in each period and its length; the last takes the remainder."""
    count = max(round(float(times[-1]) / length - 0.5), 1)
    edges = np.append(np.arange(count) * length, times[-1])
    arrivals = np.bincount(np.minimum((times / length).astype(np.int64), count - 1))
    return np.stack([arrivals, np.diff(edges)], axis=1)


def _sessions(trace: Trace) -> int:
    return len(np.unique(trace.session[trace.session != NO_SESSION]))


def _session_units(trace: Trace, group: int) -> Int64:
    """Return the unit of each request: `group` sessions in order of their start are a unit."""
    known = trace.session != NO_SESSION
    numbers, first, place = np.unique(trace.session[known], return_index=True, return_inverse=True)
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(numbers))
    units = np.full(len(trace), -1, dtype=np.int64)
    units[known] = rank[place] // group
    return units

"""Parts of a trace: by time, by request number, or by whole sessions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from simulator.base.units import format_seconds
from simulator.trace.trace import NO_SESSION, Trace
from workloads.inspection.overlaps import overlaps
from workloads.slicing.keeping import kept

Int64 = NDArray[np.int64]


def by_time(trace: Trace, start_seconds: float = 0.0, stop_seconds: float | None = None) -> Trace:
    """Return the requests that arrive at or after `start_seconds` and before `stop_seconds`.

    Raises
    ------
    UsageError
        For a trace without times, or where no request arrives in that interval.
    """
    times = trace.arrival_seconds
    if times is None:
        raise UsageError("the trace tells no times to cut it by: cut it by requests or sessions")
    stop = np.inf if stop_seconds is None else stop_seconds
    chosen = np.flatnonzero((times >= start_seconds) & (times < stop))
    until = "the end" if stop_seconds is None else format_seconds(stop_seconds)
    where = f"from {format_seconds(start_seconds)} to {until}"
    if not len(chosen):
        last = format_seconds(float(times[-1])) if len(times) else "nothing"
        raise UsageError(f"no request arrives {where}: arrivals go from 0 s to {last}")
    return _part(trace, chosen, f"arrivals {where}")


def by_requests(trace: Trace, start: int | None, stop: int | None) -> Trace:
    """Return the requests `start` to `stop` - 1, numbered from 0, as in a slice of a list.

    Raises
    ------
    UsageError
        If there is no such request.
    """
    first, end, _ = slice(start, stop).indices(len(trace))
    if end <= first:
        raise UsageError(f"no request is numbered so: the trace has {len(trace):,}, from 0 on")
    chosen = np.arange(first, end)
    return _part(trace, chosen, f"requests {first:,} to {end - 1:,}, counted from 0")


def by_session_order(trace: Trace, start: int | None, stop: int | None) -> Trace:
    """Return the sessions `start` to `stop` - 1, numbered from 0 in the order of their starts.

    Raises
    ------
    UsageError
        For a trace without sessions, or where there is no such session.
    """
    order = sessions_in_order(trace)
    first, end, _ = slice(start, stop).indices(len(order))
    if end <= first:
        raise UsageError(f"no session is numbered so: the trace has {len(order):,}, from 0 on")
    what = f"sessions {first:,} to {end - 1:,}, counted from 0 in the order in which they begin"
    return _of_sessions(trace, order[first:end], what)


def by_sessions(trace: Trace, numbers: Collection[int]) -> Trace:
    """Return whole sessions, given by their numbers in the trace.

    Raises
    ------
    UsageError
        For a trace without sessions.
    """
    sessions_in_order(trace)
    wanted = np.array(sorted(set(numbers)), dtype=np.int64)
    return _of_sessions(trace, wanted, f"{len(wanted):,} sessions chosen by name")


def sessions_in_order(trace: Trace) -> Int64:
    """Return the sessions in the order of their starts.

    Raises
    ------
    UsageError
        For a trace without sessions.
    """
    known = trace.session[trace.session != NO_SESSION]
    if not len(known):
        raise UsageError("the trace tells no sessions: cut it by time or requests")
    numbers, first = np.unique(known, return_index=True)
    return numbers[np.argsort(first)].astype(np.int64)


def _of_sessions(trace: Trace, sessions: Int64, what: str) -> Trace:
    return _part(trace, np.flatnonzero(np.isin(trace.session, sessions)), what)


def _part(trace: Trace, chosen: Int64, what: str) -> Trace:
    """Return a part of a trace, with notes on what it is and what the cut changes."""
    part = kept(trace, chosen, f"a part: {what}; {len(chosen):,} of {len(trace):,} requests")
    return replace(part, notes=(*part.notes, *_taken(trace, chosen, part)))


def _taken(trace: Trace, chosen: Int64, part: Trace) -> list[str]:
    """Return notes on sessions that are cut and on overlaps that are lost."""
    notes = []
    begun, going = _cut_sessions(trace.session, chosen)
    if begun or going:
        notes.append(
            f"the cut goes through sessions: {begun:,} begin before it, {going:,} go on behind it"
        )
    lengths = part.prompt_tokens
    before = np.minimum(overlaps(trace)[chosen], lengths - 1).sum() / lengths.sum()
    now = np.minimum(overlaps(part), lengths - 1).sum() / lengths.sum()
    if before > now:
        notes.append(
            "prompts whose beginning came before the cut are new in the part: of its prompt tokens "
            f"{100 * now:.1f} % are seen before, of the same requests in the whole "
            f"{100 * before:.1f} %"
        )
    return notes


def _cut_sessions(session: NDArray[np.int32], chosen: Int64) -> tuple[int, int]:
    """Return how many of the chosen sessions also have requests before the part, and after."""
    inside = np.zeros(len(session), dtype=np.bool_)
    inside[chosen] = True
    own = np.unique(session[inside & (session != NO_SESSION)])
    numbers = np.arange(len(session))
    outside = ~inside & np.isin(session, own)
    before = np.unique(session[outside & (numbers < chosen[0])])
    behind = np.unique(session[outside & (numbers > chosen[-1])])
    return len(before), len(behind)

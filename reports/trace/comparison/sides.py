"""The two traces of a comparison: what is counted of each, and the units that chance deals out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulator.trace import NO_SESSION, Trace
from workloads.inspection.overlaps import overlaps
from workloads.inspection.uses import Uses, uses
from workloads.slicing.keeping import kept

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Kind = Literal["blocks", "sessions"]

BLOCKS = 20  # of the shorter trace
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
    block_seconds
        The length of each block; None where blocks are of requests.
    """

    trace: Trace
    same: Trace
    overlap: Int64
    used: Uses
    units: dict[Kind, Int64]
    block_seconds: Float64 | None

    @property
    def reusable(self) -> Int64:
        """Tokens that each request of `same` could reuse: all but the last of its overlap."""
        return np.minimum(self.overlap, self.same.prompt_tokens - 1)


def sides_of(a: Trace, b: Trace) -> tuple[Side, Side]:
    """Return both sides, with units of one size."""
    timed = [each.arrival_seconds is not None and each.arrival_seconds[-1] > 0 for each in (a, b)]
    by_time = all(timed)
    spans = [_span(each, by_time) for each in (a, b)]
    block = min(spans) / BLOCKS
    group = -(-max(_sessions(a), _sessions(b)) // MOST_SESSION_UNITS) or 1
    sides = [_side(trace, min(spans), block, group, by_time=by_time) for trace in (a, b)]
    for kind in ("blocks", "sessions"):
        if any(_units(side.units, kind) < FEWEST_UNITS for side in sides):
            for side in sides:
                side.units.pop(kind, None)
    return sides[0], sides[1]


def _span(trace: Trace, by_time: bool) -> float:
    if by_time and trace.arrival_seconds is not None:
        return float(trace.arrival_seconds[-1])
    return float(len(trace))


def _sessions(trace: Trace) -> int:
    return len(np.unique(trace.session[trace.session != NO_SESSION]))


def _units(units: dict[Kind, Int64], kind: str) -> int:
    return next((len(np.unique(of[of >= 0])) for name, of in units.items() if name == kind), 0)


def _side(trace: Trace, span: float, block: float, group: int, *, by_time: bool) -> Side:
    clock = trace.arrival_seconds if by_time else np.arange(len(trace), dtype=np.float64)
    assert clock is not None
    within = int(np.searchsorted(clock, span, side="right" if by_time else "left"))
    same = trace if within == len(trace) else kept(trace, np.arange(within))
    count = max(round(_span(trace, by_time) / block - 0.5), 1)
    edges = np.append(np.arange(count) * block, _span(trace, by_time))
    units: dict[Kind, Int64] = {"blocks": np.minimum((clock / block).astype(np.int64), count - 1)}
    if (trace.session != NO_SESSION).mean() >= LEAST_IN_SESSIONS:
        units["sessions"] = _session_units(trace, group)
    return Side(
        trace=trace,
        same=same,
        overlap=overlaps(same),
        used=uses(same),
        units=units,
        block_seconds=np.diff(edges) if by_time else None,
    )


def _session_units(trace: Trace, group: int) -> Int64:
    """Return units of `group` sessions that begin one after the other."""
    known = trace.session != NO_SESSION
    numbers, first, place = np.unique(trace.session[known], return_index=True, return_inverse=True)
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(numbers))
    units = np.full(len(trace), -1, dtype=np.int64)
    units[known] = rank[place] // group
    return units

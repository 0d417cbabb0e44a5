"""The working set: distinct tokens used within a window of time (Denning, CACM 11(5), 1968)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace import Trace
from workloads.inspection.clock import Clock
from workloads.inspection.overlaps import Int64, ends
from workloads.inspection.uses import Uses

Float64 = NDArray[np.float64]

WINDOWS = {
    "seconds": (60.0, 600.0, 3600.0, 86400.0),
    "requests": (100.0, 1_000.0, 10_000.0, 100_000.0),
}
MOMENTS = 120


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Distinct tokens of prompts and answers used in the last `window`, at each moment.

    Parameters
    ----------
    window
        In the unit of the clock; None for all that came before.
    mean_tokens, peak_tokens
        Over the moments.
    tokens
        At each moment.
    """

    window: float | None
    mean_tokens: float
    peak_tokens: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WorkingSets:
    """Working sets of several windows at the same moments, in the unit of the clock."""

    unit: str
    moments: tuple[float, ...]
    sets: tuple[WorkingSet, ...]


def working_sets(trace: Trace, clock: Clock, used: Uses) -> WorkingSets:
    """Return the working sets for each of the windows that is shorter than the trace."""
    count = min(MOMENTS, len(trace))
    moments = np.linspace(clock.span / count, clock.span, count)
    passed = trace.tree.stop[np.array(ends(trace))]  # tokens on each request's path
    windows = [window for window in WINDOWS[clock.unit] if window < clock.span]
    return WorkingSets(
        unit=clock.unit,
        moments=tuple(moments.tolist()),
        sets=tuple(
            _working_set(window, moments, clock.times, passed, used) for window in [*windows, None]
        ),
    )


def _working_set(
    window: float | None, moments: Float64, times: Float64, passed: Int64, used: Uses
) -> WorkingSet:
    """Add the tokens of each path when it is used, and take them away when they are used anew.

    What is not used anew leaves at the end of the window, which is at `time + window`.
    """
    again = used.before >= 0
    before, tokens = used.before[again], used.tokens[again]
    kept = passed - np.bincount(before, tokens, len(times)).astype(np.int64)
    until = np.inf if window is None else window
    change = np.zeros(len(moments) + 1, dtype=np.int64)
    for at, sizes in (
        (times, passed),
        (np.minimum(times[used.request[again]], times[before] + until), -tokens),
        (times + until, -kept),
    ):
        np.add.at(change, np.searchsorted(moments, at), sizes)
    held = np.cumsum(change[:-1])
    return WorkingSet(window, float(held.mean()), int(held.max()), tuple(held.tolist()))

"""The working set: distinct tokens used within a window of time (Denning, CACM 11(5), 1968)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.clock import TraceClock
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
    """Distinct tokens of prompts and answers used in the last `window`, at several moments.

    Parameters
    ----------
    window
        Length of the window in the unit of the clock; None for the whole past.
    mean_tokens, peak_tokens
        Mean and maximum over the moments.
    tokens
        Distinct tokens at each moment.
    prompts
        Number of different prompts in the last `window`, at each moment. A cache that keeps a
        state at the end of each prompt needs as many.
    """

    window: float | None
    mean_tokens: float
    peak_tokens: int
    tokens: tuple[int, ...]
    prompts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkingSets:
    """Working sets for several window lengths at the same moments, in the unit of the clock."""

    unit: str
    moments: tuple[float, ...]
    sets: tuple[WorkingSet, ...]


def working_sets(trace: Trace, clock: TraceClock, used: Uses) -> WorkingSets:
    """Return the working sets for each window length below the trace's, and for the whole past."""
    count = min(MOMENTS, len(trace))
    moments = np.linspace(clock.span / count, clock.span, count)
    passed = trace.tree.stop[np.array(ends(trace))]  # tokens on each request's path
    windows = [window for window in WINDOWS[clock.unit] if window < clock.span]
    sets = []
    for window in [*windows, None]:
        working_set = _working_set(window, moments, clock.times, passed, used)
        prompts = _prompts(window, moments, clock.times, trace.leaf.astype(np.int64))
        sets.append(replace(working_set, prompts=tuple(prompts.tolist())))
    return WorkingSets(clock.unit, tuple(moments.tolist()), tuple(sets))


def _working_set(
    window: float | None, moments: Float64, times: Float64, passed: Int64, used: Uses
) -> WorkingSet:
    """Return the working set of one window length."""
    again = used.before >= 0
    before, tokens = used.before[again], used.tokens[again]
    held = _held(window, moments, times, passed, (used.request[again], before, tokens))
    return WorkingSet(window, float(held.mean()), int(held.max()), tuple(held.tolist()))


def _prompts(window: float | None, moments: Float64, times: Float64, leaf: Int64) -> Int64:
    """Return the number of different prompts within the window before each moment."""
    order = np.argsort(leaf, kind="stable")
    same = leaf[order[1:]] == leaf[order[:-1]]
    request, before = order[1:][same], order[:-1][same]
    one = np.ones(len(leaf), dtype=np.int64)
    return _held(window, moments, times, one, (request, before, one[: len(before)]))


def _held(
    window: float | None,
    moments: Float64,
    times: Float64,
    passed: Int64,
    again: tuple[Int64, Int64, Int64],
) -> Int64:
    """Return the amount (of tokens or prompts) used within the window before each moment.

    What a request uses is added at its time. It is removed when it is used again or leaves the
    window, whichever is first.

    Parameters
    ----------
    passed
        Amount that each request uses, shape (requests,).
    again
        Repeated uses: the request, the request of the previous use, and the amount.
    """
    request, before, sizes = again
    kept = passed - np.bincount(before, sizes, len(times)).astype(np.int64)
    until = np.inf if window is None else window
    change = np.zeros(len(moments) + 1, dtype=np.int64)
    for at, amounts in (
        (times, passed),
        (np.minimum(times[request], times[before] + until), -sizes),
        (times + until, -kept),
    ):
        np.add.at(change, np.searchsorted(moments, at), amounts)
    held: Int64 = np.cumsum(change[:-1])
    return held

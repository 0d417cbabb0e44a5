"""Anomalies of the times of requests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workloads.anomaly import Anomaly
from workloads.inspection.burstiness import coarse_tick
from workloads.rows import MERGED
from workloads.validation.facts import Facts

IDLE_SHARE = 0.1  # share of the trace's duration above which a gap is idle
IDLE_GAPS = 100.0  # multiple of the median gap above which a gap is idle

Float64 = NDArray[np.float64]


def time_anomalies(facts: Facts) -> Iterator[Anomaly]:
    """Yield the anomalies of the times, in the order of the file."""
    times = facts.times
    if times is None:
        everything = np.ones(len(facts), dtype=np.bool_)
        yield from facts.in_rows("no-times", everything, "arrivals must come from a rate")
        return
    steps = np.concatenate([[0.0], np.diff(times)])
    if not facts.closed_loop:
        detail = "earlier than the line before: will be sorted"
        yield from facts.in_rows("unsorted", steps < 0, detail)
    distinct, first = np.unique(times, return_index=True)
    repeated = np.ones(len(times), dtype=np.bool_)
    repeated[first] = False
    detail = "a time that an earlier line has too: the file's order decides"
    yield from facts.in_rows("equal-times", repeated & ~facts.merged, detail)
    yield from facts.in_rows("rounded-times", facts.merged, MERGED)
    yield from _ticks(facts, distinct, repeated)
    yield from _silences(facts, distinct, first)


def _ticks(facts: Facts, distinct: Float64, repeated: NDArray[np.bool_]) -> Iterator[Anomaly]:
    """Yield a warning where requests share times because timestamps are coarse."""
    tick = coarse_tick(distinct, len(facts))
    if tick is not None:
        clock = f"{len(distinct):,} different times, in ticks of {tick:g} s"
        hint = facts.hint("jitter", " (--jitter)")
        yield from facts.in_rows("ticks", repeated, f"{clock}: bursts are of the clock{hint}")


def _silences(facts: Facts, distinct: Float64, first: NDArray[np.int64]) -> Iterator[Anomaly]:
    gaps = np.diff(distinct)
    if not len(gaps):
        return
    least = max(IDLE_SHARE * float(distinct[-1] - distinct[0]), IDLE_GAPS * float(np.median(gaps)))
    ends = np.zeros(len(facts), dtype=np.bool_)
    ends[first[1:][gaps > least]] = True
    detail = f"after a silence of more than {least:,.0f} s: is it one trace?"
    yield from facts.in_rows("silence", ends, detail)

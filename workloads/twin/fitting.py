"""Fitting of a twin's statistics to a trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace
from workloads.ticks import tick_seconds
from workloads.twin.boxes import LEAST_ROWS, split
from workloads.twin.meetings import MEETINGS, Meetings, meetings
from workloads.twin.stats import (
    FORMAT,
    MOST_LABELS,
    MOST_REQUESTS,
    SESSIONS,
    SLICES,
    ArrivalInstants,
    RequestKind,
    TwinStats,
    from_boxes,
)

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

MOST_BOXES = 320
LEAST_REQUESTS = 100
MOST_GAP_BOXES = 64
LEAST_TICKS_SECONDS = 1e-6
# Weight of each column when boxes are split: per slice of the trace, then per power of two.
WEIGHTS = np.array([12 / SLICES, 1.0, 1.0, 0.7, 0.7, 0.5, 0.6, 0.2])
GAP_WEIGHTS = np.array([6 / SLICES, 1.0, 1.0])
OTHER_LABEL = "other"


def fit(trace: Trace) -> TwinStats:
    """Return the statistics of a trace from which a twin can be generated.

    Raises
    ------
    UsageError
        For a trace of fewer than 100 requests, whose statistics would reveal single requests, or
        of more than 10^6.
    """
    if not LEAST_REQUESTS <= len(trace) <= MOST_REQUESTS:
        limits = f"{LEAST_REQUESTS} to {MOST_REQUESTS:,} requests"
        raise UsageError(f"a twin needs a trace of {limits}, found {len(trace):,}")
    met = meetings(trace)
    labels, label = _common_labels(trace)
    relation = _session_relations(trace.session, met.source)
    scale = float(f"{trace.prompt_tokens.mean():.3g}")
    columns = _columns(trace, met)
    scaled = _scaled(columns, scale, trace.granularity) * WEIGHTS
    kinds, groups = [], []
    for rows in _alike(met.meeting, relation, label):
        kinds.append(
            RequestKind(
                meeting=MEETINGS[met.meeting[rows[0]]],
                session=SESSIONS[relation[rows[0]]],
                label=int(label[rows[0]]),
                answered=_answered_share(trace, rows),
            )
        )
        groups.append((columns[rows], scaled[rows]))
    return TwinStats(
        format=FORMAT,
        version=1,
        requests=len(trace),
        granularity=trace.granularity,
        scale_tokens=scale,
        labels=labels,
        kinds=tuple(kinds),
        boxes=from_boxes(split(groups, MOST_BOXES)),
        arrivals=_arrivals(trace.arrival_seconds),
    )


def _columns(trace: Trace, met: Meetings) -> Int64:
    return np.column_stack(
        [
            _slices(len(trace)),
            met.distance,
            met.depth,
            met.own,
            met.fresh,
            met.beyond,
            met.new,
            trace.output_tokens,
        ]
    )


def _slices(count: int) -> Int64:
    """Return the slice (64th part of the trace) of each of `count` requests or instants."""
    return np.arange(count, dtype=np.int64) * SLICES // count


def _scaled(columns: Int64, scale: float, granularity: int) -> Float64:
    """Return the columns on a logarithmic scale that makes unimportant differences small."""
    slices, distance, depth, own, fresh, beyond, new, output = columns.T.astype(np.float64)
    return np.column_stack(
        [
            slices,
            np.log2(distance + scale),
            np.log2(np.maximum(depth, 1)),
            np.log2(own + depth / 16 + granularity),
            np.log2(fresh + depth / 16 + granularity),
            np.log2(beyond + depth / 4 + granularity),
            np.log2(new + depth / 16 + 8),
            np.log2(output + 8),
        ]
    )


def _session_relations(session: NDArray[np.int32], source: Int64) -> Int64:
    """Return for each request how its session relates to earlier ones, as index of `SESSIONS`."""
    relation = np.full(len(session), SESSIONS.index("other"), dtype=np.int64)
    _, first = np.unique(session, return_index=True)
    relation[(source >= 0) & (session == session[source])] = SESSIONS.index("source's")
    relation[first] = SESSIONS.index("new")
    relation[session == NO_SESSION] = SESSIONS.index("none")
    return relation


def _common_labels(trace: Trace) -> tuple[tuple[str, ...], Int64]:
    """Return the common labels and each request's index (-1: none); rare labels are merged."""
    known = trace.label[trace.label != NO_LABEL]
    counts = np.bincount(known, minlength=len(trace.labels))
    common = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    common = np.sort(common[counts[common] >= LEAST_ROWS])
    renamed = np.full(len(trace.labels) + 1, len(common), dtype=np.int64)
    renamed[common] = np.arange(len(common))
    renamed[NO_LABEL] = NO_LABEL  # the last entry
    label = renamed[trace.label]
    names = tuple(trace.labels[at] for at in common)
    return (*names, OTHER_LABEL) if (label == len(common)).any() else names, label


def _alike(*columns: Int64) -> list[Int64]:
    """Return groups of rows with equal values in all columns, without the small groups."""
    distinct, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    groups = [np.flatnonzero(group.ravel() == at) for at in range(len(distinct))]
    return [rows for rows in groups if len(rows) >= LEAST_ROWS]


def _answered_share(trace: Trace, rows: Int64) -> float:
    return 0.0 if trace.after is None else round(float((trace.after[rows] >= 0).mean()), 3)


def _arrivals(times: Float64 | None) -> ArrivalInstants | None:
    """Fit the number of requests at each instant, and the time to the next instant."""
    if times is None:
        return None
    instants, requests = np.unique(times, return_counts=True)
    if len(instants) <= LEAST_ROWS:
        return None
    tick = float(f"{tick_seconds(times) or LEAST_TICKS_SECONDS:.6g}")
    ticks = np.maximum(np.rint(np.diff(instants) / tick), 1).astype(np.int64)
    values = np.column_stack([_slices(len(ticks)), requests[:-1], ticks])
    scaled = np.column_stack([values[:, 0], np.log2(values[:, 1:])]) * GAP_WEIGHTS
    return ArrivalInstants(
        tick_seconds=tick, boxes=from_boxes(split([(values, scaled)], MOST_GAP_BOXES))
    )

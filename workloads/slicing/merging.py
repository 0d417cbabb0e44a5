"""Merging of several traces in time into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import UsageError
from simulator.base.units import format_count, format_seconds
from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace
from workloads.inspection.overlaps import overlaps
from workloads.prefixes.prompt_tree import numbered
from workloads.slicing.coarsening import coarsened
from workloads.slicing.keeping import TIME_DECIMALS

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


def merged(traces: Sequence[Trace], offsets: Sequence[float] | None = None) -> Trace:
    """Return the requests of all traces in order of arrival; ties are in the order given.

    Each trace begins at its offset (in seconds; 0 by default), and the result at 0. Traces without
    times are interleaved evenly. Different traces share nothing, since their tokens are no longer
    known. Sessions and labels are kept apart. The granularity (tokens per block to which overlaps
    are known) is the largest of any trace.

    Raises
    ------
    UsageError
        If only some traces have times, or the largest granularity is no multiple of another.
    """
    _refuse_unlike(traces)
    traces, floored = _coarsened(traces)
    names = _names_apart([trace.name for trace in traces])
    times, order = _times(traces, offsets)
    above, stop, first = _trees(traces)
    leaf = np.concatenate(
        [trace.leaf.astype(np.int64) + at for trace, at in zip(traces, first, strict=True)]
    )[order]
    after = _after(traces, first)
    after = after if after is None else after[order]
    ends = leaf if after is None else np.stack([leaf, np.where(after < 0, leaf, after)], 1).ravel()
    tree, numbers = numbered(above.tolist(), stop.tolist(), ends.tolist())
    label, labels = _labels(traces, names)
    return Trace(
        name=" + ".join(names),
        tree=tree,
        leaf=numbers[leaf],
        arrival_seconds=times,
        output_tokens=np.concatenate([trace.output_tokens for trace in traces])[order],
        session=_sessions(traces)[order],
        label=label[order],
        labels=labels,
        granularity=traces[0].granularity,
        after=None if after is None else np.where(after < 0, np.int32(-1), numbers[after]),
        notes=(*_notes(traces, names, offsets), *floored, *_own_notes(traces, names)),
    )


def _refuse_unlike(traces: Sequence[Trace]) -> None:
    timed = [trace.arrival_seconds is not None for trace in traces]
    if any(timed) and not all(timed):
        one, other = traces[timed.index(True)].name, traces[timed.index(False)].name
        raise UsageError(
            f"'{one}' tells times and '{other}' does not: they cannot be laid side by side"
        )
    coarse = max(traces, key=lambda trace: trace.granularity)
    for trace in traces:
        if coarse.granularity % trace.granularity:
            raise UsageError(
                f"'{coarse.name}' tells overlaps to {coarse.granularity:,} tokens, which are no "
                f"whole blocks of '{trace.name}' ({trace.granularity:,} tokens)"
            )


def _coarsened(traces: Sequence[Trace]) -> tuple[list[Trace], list[str]]:
    """Return all traces at the largest granularity, and notes on the overlaps lost by that."""
    block = max(trace.granularity for trace in traces)
    alike, notes = [], []
    for trace in traces:
        if trace.granularity == block:
            alike.append(trace)
            continue
        alike.append(coarsened(trace, block))
        notes.append(
            f"overlaps of '{trace.name}', told to {trace.granularity:,} "
            f"token{'s' * (trace.granularity > 1)}, are floored to blocks of {block:,}: of its "
            f"prompt tokens {_seen_before(alike[-1])} are seen before instead of "
            f"{_seen_before(trace)}"
        )
    return alike, notes


def _seen_before(trace: Trace) -> str:
    lengths = trace.prompt_tokens
    share = np.minimum(overlaps(trace), lengths - 1).sum() / lengths.sum()
    return f"{100 * float(share):.1f} %"


def _names_apart(names: Sequence[str]) -> list[str]:
    """Return the names, with a number appended to repeated ones."""
    apart: list[str] = []
    for name in names:
        other, count = name, 1
        while other in apart:
            count += 1
            other = f"{name}-{count}"
        apart.append(other)
    return apart


def _times(
    traces: Sequence[Trace], offsets: Sequence[float] | None
) -> tuple[Float64 | None, Int64]:
    """Return the times from 0 (None for traces without times) and the order of the requests."""
    if any(trace.arrival_seconds is None for trace in traces):
        places = [(np.arange(len(trace)) + 0.5) / max(len(trace), 1) for trace in traces]
        return None, np.argsort(np.concatenate(places), kind="stable")
    starts = offsets or [0.0] * len(traces)
    shifted = [
        np.round(trace.arrival_seconds + start, TIME_DECIMALS) if start else trace.arrival_seconds
        for trace, start in zip(traces, starts, strict=True)
        if trace.arrival_seconds is not None
    ]
    times = np.concatenate(shifted)
    order = np.argsort(times, kind="stable")
    times = times[order]
    return (np.round(times - times[0], TIME_DECIMALS) if len(times) and times[0] else times), order


def _trees(traces: Sequence[Trace]) -> tuple[Int64, Int64, list[int]]:
    """Return the nodes of all trees under one root, and the first node of each trace."""
    above, stop, first = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], []
    begin = 0
    for trace in traces:
        parent = trace.tree.parent[1:].astype(np.int64)
        above.append(np.where(parent > 0, parent + begin, 0))
        stop.append(trace.tree.stop[1:])
        first.append(begin)
        begin += trace.tree.nodes - 1
    return np.concatenate(above), np.concatenate(stop), first


def _after(traces: Sequence[Trace], first: Sequence[int]) -> Int64 | None:
    if all(trace.after is None for trace in traces):
        return None
    columns = []
    for trace, at in zip(traces, first, strict=True):
        after = np.full(len(trace), -1) if trace.after is None else trace.after.astype(np.int64)
        columns.append(np.where(after < 0, -1, after + at))
    return np.concatenate(columns)


def _sessions(traces: Sequence[Trace]) -> Int32:
    """Return the sessions of all traces, numbered in the order of the traces."""
    columns, begin = [], 0
    for trace in traces:
        known = trace.session != NO_SESSION
        numbers, place = np.unique(trace.session[known], return_inverse=True)
        column = np.full(len(trace), NO_SESSION, dtype=np.int32)
        column[known] = begin + place
        columns.append(column)
        begin += len(numbers)
    return np.concatenate(columns)


def _labels(traces: Sequence[Trace], names: Sequence[str]) -> tuple[Int32, tuple[str, ...]]:
    """Return labels that consist of the trace's name and the request's own label."""
    labels: list[str] = []
    columns = []
    for trace, name in zip(traces, names, strict=True):
        bare = trace.label == NO_LABEL
        column = trace.label + np.int32(len(labels))
        labels += [f"{name}/{label}" for label in trace.labels]
        if bare.any():
            column[bare] = len(labels)
            labels.append(name)
        columns.append(column.astype(np.int32))
    return np.concatenate(columns), tuple(labels)


def _notes(
    traces: Sequence[Trace], names: Sequence[str], offsets: Sequence[float] | None
) -> list[str]:
    starts = offsets or [0.0] * len(traces)
    timed = traces[0].arrival_seconds is not None
    parts = [
        f"'{name}', {format_count(len(trace))} requests"
        + (f" from {format_seconds(start)} on" if timed else "")
        for trace, name, start in zip(traces, names, starts, strict=True)
    ]
    notes = [f"merged: {'; '.join(parts)}. Nothing is shared between different traces"]
    if not timed:
        notes.append("the traces tell no times: their requests are interleaved evenly")
    known = [name for trace, name in zip(traces, names, strict=True) if trace.after is not None]
    if known and len(known) < len(traces):
        notes.append(
            f"what answers begin is known in {', '.join(known)} only: elsewhere a later prompt "
            "that holds an answer brings its tokens itself"
        )
    return notes


def _own_notes(traces: Sequence[Trace], names: Sequence[str]) -> list[str]:
    return [
        f"{name}: {note}" for trace, name in zip(traces, names, strict=True) for note in trace.notes
    ]

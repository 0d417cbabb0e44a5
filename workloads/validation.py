"""What is odd about a trace file: everything an import survives, refuses or reinterprets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.trace import Trace
from workloads.anomaly import Anomaly
from workloads.numbering import leading_runs, name_prefixes, number, predecessors
from workloads.opening import is_saved, read_rows
from workloads.options import ReadOptions
from workloads.prompts import BlockKeys
from workloads.rows import Rows
from workloads.store import load

MAX_PLAUSIBLE_SPAN_SECONDS = 366 * 86400.0
MIN_PLAUSIBLE_RATE_PER_SECOND = 1e-4
MAX_PLAUSIBLE_RATE_PER_SECOND = 1e5


def validate(path: str | Path, *, format: str | None = None, **options: Any) -> list[Anomaly]:
    """Read the whole file and return what is odd about it; an empty list is a clean file.

    Arguments are those of `workloads.opening.open_trace`.

    Raises
    ------
    DataError
        Where the file cannot be read as lines at all, or is a damaged saved trace.
    """
    path = Path(path)
    if is_saved(path):
        return list(_saved_anomalies(load(path)))
    chosen = ReadOptions(**options | {"on_bad_line": "skip"})
    return list(_anomalies(read_rows(path, chosen, format)))


def _anomalies(rows: Rows) -> Iterator[Anomaly]:
    if rows.first_bad is not None:
        first = rows.first_bad
        detail = first.problem if first.field is None else f"field '{first.field}': {first.problem}"
        yield Anomaly("bad-line", rows.bad_lines, first.line, detail, error=True)
    if not len(rows):
        return
    yield from _time_anomalies(rows)
    outputs = np.frombuffer(rows.output_tokens, dtype=np.int64)
    yield from _found(rows, "zero-output", outputs == 0, "the output has no token, or is unknown")
    yield from rows.oddities.values()
    if isinstance(rows.prompts, BlockKeys):
        yield from _id_anomalies(rows, rows.prompts)


def _found(rows: Rows, what: str, where: NDArray[np.bool_], detail: str) -> Iterator[Anomaly]:
    """Yield an anomaly where any row shows it."""
    if where.any():
        yield Anomaly(what, int(np.count_nonzero(where)), rows.line[int(where.argmax())], detail)


def _time_anomalies(rows: Rows) -> Iterator[Anomaly]:
    if not rows.time_ticks:
        yield Anomaly("no-times", len(rows), rows.line[0], "arrivals must come from a rate")
        return
    times = np.frombuffer(rows.time_ticks, dtype=np.float64) / rows.ticks_per_second
    steps = np.concatenate([[0.0], np.diff(times)])
    yield from _found(rows, "unsorted", steps < 0, "earlier than the line before: will be sorted")
    _, first = np.unique(times, return_index=True)
    repeated = np.ones(len(times), dtype=np.bool_)
    repeated[first] = False
    detail = "a time that an earlier line has too: the file's order decides"
    yield from _found(rows, "equal-times", repeated, detail)
    yield from _span_anomaly(float(times.max() - times.min()), len(times), rows.line[0])


def _span_anomaly(span: float, count: int, line: int | None) -> Iterator[Anomaly]:
    """Yield a warning where a unit of time was probably mistaken."""
    rate = (count - 1) / span if span > 0 else None
    if span > MAX_PLAUSIBLE_SPAN_SECONDS:
        detail = f"the trace spans {span / 86400:,.0f} days: is the unit of time right?"
    elif rate is not None and rate > MAX_PLAUSIBLE_RATE_PER_SECOND:
        detail = f"{rate:,.0f} requests/s arrive: is the unit of time right?"
    elif rate is not None and rate < MIN_PLAUSIBLE_RATE_PER_SECOND:
        detail = f"one request arrives in {1 / rate:,.0f} s: is the unit of time right?"
    else:
        return
    yield Anomaly("implausible-span", count, line, detail)


def _id_anomalies(rows: Rows, prompts: BlockKeys) -> Iterator[Anomaly]:
    if not prompts.keys:
        yield Anomaly("no-prefixes", len(rows), rows.line[0], "prompts share nothing: only lengths")
        return
    missing = prompts.missing_blocks(rows.lengths())
    partial = rows.lengths() % prompts.block > 0
    floored = (missing == 1) & partial
    detail = "the partial last block has no id: it matches nothing"
    yield from _found(rows, "no-id-for-partial-block", floored, detail)
    detail = "whole blocks have no id: they match nothing"
    yield from _found(rows, "too-few-ids", (missing > 0) & ~floored, detail)
    offsets = prompts.offsets()
    ids, first = number(prompts.take_keys())
    if not name_prefixes(ids, first, offsets):
        yield _content_ids(rows, ids, first, offsets)
        ids, first = number(leading_runs(ids, offsets))
    yield from _duplicates(rows, ids, offsets)


def _content_ids(
    rows: Rows, ids: NDArray[np.int32], first: NDArray[np.int32], offsets: NDArray[np.int64]
) -> Anomaly:
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    before = np.concatenate([[np.int32(-1)], ids[:-1]])
    before[starts] = -1
    differs = predecessors(ids, first, offsets)[ids] != before
    row = int(np.searchsorted(offsets, int(differs.argmax()), side="right")) - 1
    detail = "an id has two predecessors: ids name content, and are matched as leading runs"
    return Anomaly("content-ids", len(np.unique(ids[differs])), rows.line[row], detail)


def _duplicates(
    rows: Rows, ids: NDArray[np.int32], offsets: NDArray[np.int64]
) -> Iterator[Anomaly]:
    """Find rows equal to an earlier one in time, lengths and prefix."""
    last = np.full(len(rows), -1, dtype=np.int64)
    full = offsets[1:] > offsets[:-1]
    last[full] = ids[offsets[1:][full] - 1]
    columns = [last.astype(np.float64)]
    columns += [
        np.frombuffer(values, dtype=np.int64).astype(np.float64)
        for values in (rows.prompt_tokens, rows.output_tokens)
    ]
    if rows.time_ticks:
        columns.append(np.frombuffer(rows.time_ticks, dtype=np.float64))
    _, first = np.unique(np.stack(columns, axis=1), axis=0, return_index=True)
    repeated = full.copy()
    repeated[first] = False
    detail = "time, lengths and ids are those of an earlier line"
    yield from _found(rows, "duplicate", repeated, detail)


def _saved_anomalies(trace: Trace) -> Iterator[Anomaly]:
    """Yield what a saved trace can still show: its rows have been sorted and interned."""
    for note in trace.notes:
        yield Anomaly("note", 1, None, note)
    if trace.arrival_seconds is None:
        yield Anomaly("no-times", len(trace), None, "arrivals must come from a rate")
    elif len(trace):
        span = float(trace.arrival_seconds[-1])
        yield from _span_anomaly(span, len(trace), None)
    zeros = int(np.count_nonzero(trace.output_tokens == 0))
    if zeros:
        yield Anomaly("zero-output", zeros, None, "the output has no token, or is unknown")

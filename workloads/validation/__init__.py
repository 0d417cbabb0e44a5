"""Validation of trace files: everything that an import tolerates, refuses or reinterprets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workloads.anomaly import Anomaly
from workloads.opening import is_saved, read_rows, refuse_isolation
from workloads.options import ReadOptions
from workloads.prefixes.id_ranges import IdRanges
from workloads.prefixes.numbering import Int64
from workloads.prefixes.prompts import BlockKeys
from workloads.rows import Rows
from workloads.store import load
from workloads.validation.blocks import (
    block_anomalies,
    content_anomalies,
    number_blocks,
    number_keys,
)
from workloads.validation.facts import Facts, facts_of_rows, facts_of_trace
from workloads.validation.requests import request_anomalies
from workloads.validation.sessions import session_anomalies
from workloads.validation.times import time_anomalies

__all__ = ["anomalies_of", "validate"]


def validate(path: str | Path, *, format: str | None = None, **options: Any) -> list[Anomaly]:
    """Read a whole file and return its anomalies; an empty list means a clean file.

    Arguments are those of `workloads.opening.open_trace`.

    Raises
    ------
    DataError
        For a file that cannot be read at all, or a damaged saved trace.
    """
    path = Path(path)
    chosen = ReadOptions(**options | {"on_bad_line": "skip"})
    if is_saved(path):
        refuse_isolation(chosen)
        trace = load(path)
        notes = [Anomaly("note", 1, None, note) for note in trace.notes]
        return [*notes, *_common(facts_of_trace(trace))]
    return list(anomalies_of(read_rows(path, chosen, format)))


def anomalies_of(rows: Rows) -> Iterator[Anomaly]:
    """Yield the anomalies of rows, whose prompts are consumed."""
    if rows.first_bad is not None:
        first = rows.first_bad
        detail = first.problem if first.field is None else f"field '{first.field}': {first.problem}"
        yield Anomaly("bad-line", rows.bad_lines, first.line, detail, error=True)
    yield from rows.oddities.values()
    yield from rows.unused.anomalies()
    if not len(rows):
        return
    prefix = None
    if isinstance(rows.prompts, BlockKeys):
        blocks = number_blocks(rows.prompts)
        prefix = blocks.last
        line = np.frombuffer(rows.line, dtype=np.int64)
        yield from block_anomalies(blocks, rows.prompts, rows.lengths(), line)
    elif isinstance(rows.prompts, IdRanges):  # the reader has noted missing ids
        keys, _, offsets = rows.prompts.unfold()
        blocks = number_keys(keys, offsets)
        yield from content_anomalies(blocks, np.frombuffer(rows.line, dtype=np.int64))
    for fact in rows.isolation.facts(len(rows)):
        yield Anomaly("isolation", len(rows), None, fact)
    yield from _common(facts_of_rows(rows, None if prefix is None else _apart(rows, prefix)))


def _apart(rows: Rows, prefix: Int64) -> Int64:
    """Return prefix numbers that differ also if isolation keys do; -1 stays."""
    groups = rows.isolation.groups(len(rows))
    if groups is None:
        return prefix
    return np.where(prefix < 0, prefix, prefix * (int(groups.max()) + 1) + groups)


def _common(facts: Facts) -> Iterator[Anomaly]:
    """Yield the anomalies of times, requests and sessions."""
    if len(facts):
        yield from time_anomalies(facts)
        yield from request_anomalies(facts)
        yield from session_anomalies(facts)

"""What every trace format is read into: request columns and keys of blocks."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.errors import DataError
from simulator.trace import NO_LABEL, NO_SESSION, Trace
from workloads.interning import Interned, intern_blocks

OnBadLine = Literal["fail", "skip"]

MAX_KEYS = (1 << 31) - 1

Number = TypeVar("Number", np.int32, np.int64)


@dataclass(slots=True)
class Rows:
    """Requests in the order of the file.

    `keys` name prefixes: those of row `i` are `keys[ends[i - 1]:ends[i]]`. `time_ticks` is
    empty where the file tells no times.
    """

    block: int
    on_bad_line: OnBadLine = "fail"
    ticks_per_second: float = 1.0
    keys: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    prompt_tokens: array[int] = field(default_factory=lambda: array("q"))
    output_tokens: array[int] = field(default_factory=lambda: array("q"))
    time_ticks: array[float] = field(default_factory=lambda: array("d"))
    session: array[int] = field(default_factory=lambda: array("i"))
    label: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    sessions: dict[str | int, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    bad_lines: int = 0
    first_bad: DataError | None = None

    def __len__(self) -> int:
        return len(self.ends)

    def refuse(self, error: DataError) -> None:
        """Count a bad line, or raise its error where bad lines are to fail."""
        if self.on_bad_line == "fail":
            raise error
        self.bad_lines += 1
        self.first_bad = self.first_bad or error

    def session_number(self, name: str | int | None) -> int:
        """Return the number of a session, a new one for a new name."""
        if name is None:
            return NO_SESSION
        return self.sessions.setdefault(name, len(self.sessions))

    def label_number(self, name: str | None) -> int:
        """Return the number of a label, a new one for a new name."""
        if name is None:
            return NO_LABEL
        return self.labels.setdefault(name, len(self.labels))

    def offsets(self) -> NDArray[np.int64]:
        """Return where each row's keys start, and where the last ends: shape (rows + 1,)."""
        return np.concatenate([[0], np.frombuffer(self.ends, dtype=np.int64)])

    def missing_blocks(self) -> NDArray[np.int64]:
        """Return how many blocks of each prompt have no key (1 for a partial block)."""
        prompts = np.frombuffer(self.prompt_tokens, dtype=np.int64)
        return -(-prompts // self.block) - np.diff(self.offsets())

    def take_keys(self) -> NDArray[np.uint64]:
        """Give the keys away, which are most of the memory."""
        keys = np.frombuffer(self.keys, dtype=np.uint64)
        self.keys = array("Q")
        return keys


def to_trace(rows: Rows, name: str) -> Trace:
    """Intern rows, sorted by time, as a trace. The rows' keys are gone afterwards.

    Rows of equal times keep the order of the file; the first arrival becomes 0.
    """
    notes = _notes(rows)
    order, times = _arrivals(rows)
    if order is not None:
        notes.append("lines were not sorted by time: sorted, equal times keep the file's order")
    interned = _interned(rows, order)
    if interned.content_keys:
        notes.append("ids name the content of a block, not a prefix: matched as leading runs")
    return Trace(
        name=name,
        tree=interned.tree,
        leaf=interned.leaf,
        arrival_seconds=times,
        output_tokens=_column(rows.output_tokens, np.int64, order),
        session=_column(rows.session, np.int32, order),
        label=_column(rows.label, np.int32, order),
        labels=tuple(rows.labels),
        granularity=rows.block,
        notes=tuple(notes),
    )


def _notes(rows: Rows) -> list[str]:
    notes = []
    if rows.bad_lines and rows.first_bad:
        share = f"{rows.bad_lines:,} of {rows.bad_lines + len(rows):,} lines skipped"
        where = f"line {rows.first_bad.line}"
        what = f"field '{rows.first_bad.field}': " if rows.first_bad.field else ""
        notes.append(f"{share} as bad; the first, {where}: {what}{rows.first_bad.problem}")
    short = int(np.count_nonzero(rows.missing_blocks()))
    if short:
        notes.append(f"{short:,} prompts have a tail without an id, which matches nothing")
    return notes


def _arrivals(rows: Rows) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """Return the order of arrival, None for that of the file, and the times from 0."""
    if not rows.time_ticks:
        return None, None
    times = np.frombuffer(rows.time_ticks, dtype=np.float64)
    order = None
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times = times[order]
    return order, (times - times[0]) / rows.ticks_per_second


def _interned(rows: Rows, order: NDArray[np.int64] | None) -> Interned:
    offsets = rows.offsets()
    prompts = _column(rows.prompt_tokens, np.int64, order)
    if order is None:
        return intern_blocks(rows.take_keys(), offsets, prompts, rows.block)
    lengths = np.diff(offsets)[order]
    sorted_offsets = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(offsets[order] - sorted_offsets[:-1], lengths)
    at = np.arange(len(shift)) + shift
    return intern_blocks(rows.take_keys()[at], sorted_offsets, prompts, rows.block)


def _column(
    values: array[int], dtype: type[Number], order: NDArray[np.int64] | None
) -> NDArray[Number]:
    column = np.frombuffer(values, dtype=dtype)
    return column.copy() if order is None else column[order]

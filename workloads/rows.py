"""Rows: the result of reading any trace format, with request columns and prompts."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import DataError, printable
from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace
from workloads.anomaly import Anomaly
from workloads.instants import Instants, Ticks
from workloads.options import OnBadLine
from workloads.prefixes.isolating import isolated
from workloads.prefixes.isolation import Isolation
from workloads.prefixes.prompts import BlockKeys, Prompts
from workloads.unused import UnusedFields

Number = TypeVar("Number", np.int32, np.int64)
Times = NDArray[np.float64]

MERGED = "differ from another in the file by less than seconds can tell: rounded to equal times"


@dataclass(slots=True)
class Rows:
    """The requests of a file, in the order of the file, as columns.

    `time_ticks` is empty if the file has no times; `add` takes times in the file's unit, and
    whole and decimal numbers stay exact (`workloads.instants`). `oddities` are anomalies found by
    the reader (failures, missing outputs, ...) by kind. `facts` are further notes for users, such
    as how tokens were counted. `known_options` are those of the format, for hints in messages.

    `dated` is whether times are dates or have a known unit, `laid_out` whether they were relative
    to the start of each session, and `closed_loop` whether they follow from answers, so that they
    are not in the order of the file. `unused` are fields that were not read; `isolation` has the
    keys that isolate prefixes.
    """

    prompts: Prompts
    on_bad_line: OnBadLine = "fail"
    ticks_per_second: float = 1.0
    prompt_tokens: array[int] = field(default_factory=lambda: array("q"))
    output_tokens: array[int] = field(default_factory=lambda: array("q"))
    time_ticks: Instants = field(default_factory=Instants)
    session: array[int] = field(default_factory=lambda: array("i"))
    label: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    sessions: dict[str | int, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    bad_lines: int = 0
    first_bad: DataError | None = None
    oddities: dict[str, Anomaly] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    known_options: frozenset[str] = frozenset()
    dated: bool = False
    laid_out: bool = False
    closed_loop: bool = False
    unused: UnusedFields = field(default_factory=UnusedFields)
    isolation: Isolation = field(default_factory=Isolation)

    def __len__(self) -> int:
        return len(self.prompt_tokens)

    def add(
        self,
        line: int,
        prompt_tokens: int,
        output_tokens: int,
        time_ticks: Ticks | None,
        session: str | int | None = None,
        label: str | int | None = None,
    ) -> None:
        """Add the columns of a request, after its prompt has been added to `prompts`."""
        self.prompt_tokens.append(prompt_tokens)
        self.output_tokens.append(output_tokens)
        if time_ticks is not None:
            self.time_ticks.append(time_ticks, self.ticks_per_second)
        self.session.append(self._session_number(session))
        self.label.append(self._label_number(label))
        self.line.append(line)
        if len(self.isolation.keys) > 1:  # checked here to spare most files a call for every row
            self.isolation.add(line, len(self.line) - 1)

    def refuse(self, error: DataError) -> None:
        """Count a bad line, or raise its error where bad lines make the import fail."""
        if self.on_bad_line == "fail":
            raise error
        self.bad_lines += 1
        self.first_bad = self.first_bad or error

    def note(self, what: str, line: int | None, detail: str) -> None:
        """Count an anomaly that is no error; its first line and detail are kept."""
        known = self.oddities.get(what)
        count = 1
        if known is not None:
            count, line, detail = known.count + 1, known.first_line, known.detail
        self.oddities[what] = Anomaly(what, count, line, detail)

    def lengths(self) -> NDArray[np.int64]:
        """Return the tokens of each prompt, in the order of the file."""
        return np.frombuffer(self.prompt_tokens, dtype=np.int64)

    def _session_number(self, name: str | int | None) -> int:
        if name is None:
            return NO_SESSION
        return self.sessions.setdefault(name, len(self.sessions))

    def _label_number(self, name: str | int | None) -> int:
        if name is None:
            return NO_LABEL
        return self.labels.setdefault(str(name), len(self.labels))


def to_trace(rows: Rows, name: str, jitter: int | None = None) -> Trace:
    """Return the rows as a trace, sorted by time; the rows' prompts are consumed.

    Rows of equal times keep the order of the file; the first arrival becomes 0. With `jitter`, a
    seed, arrivals are spread at random within the timestamp resolution of the file.
    """
    notes = _notes(rows)
    order, times = _arrivals(rows, notes)
    if times is not None and jitter is not None:
        times, note = _jittered(times, jitter)
        notes.append(note)
    interned = rows.prompts.intern(_column(rows.prompt_tokens, np.int64, order), order)
    groups = rows.isolation.groups(len(rows))
    if groups is not None:
        interned = isolated(interned, groups if order is None else groups[order])
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
        granularity=rows.prompts.granularity,
        after=interned.after,
        notes=tuple(notes),
    )


def _notes(rows: Rows) -> list[str]:
    notes = []
    if rows.bad_lines and rows.first_bad:
        lines = "line" if rows.bad_lines == 1 else "lines"
        line = rows.first_bad.line
        where = printable(Path(rows.first_bad.source).name) if line is None else f"line {line}"
        what = f"field '{rows.first_bad.field}': " if rows.first_bad.field else ""
        notes.append(
            f"{rows.bad_lines:,} {lines} skipped as bad, {len(rows):,} requests read; the first, "
            f"{where}: {what}{rows.first_bad.problem}"
        )
    notes += [f"{odd.what}: {odd.count:,} x {odd.detail}" for odd in rows.oddities.values()]
    if isinstance(rows.prompts, BlockKeys):
        notes += _tail_notes(rows, rows.prompts)
    unused = rows.unused.fact()
    unused_notes = [] if unused is None else [unused]
    return [*notes, *_isolation_notes(rows), *rows.facts, *unused_notes]


def _isolation_notes(rows: Rows) -> list[str]:
    nothing_shared = isinstance(rows.prompts, BlockKeys) and not rows.prompts.keys
    return [] if nothing_shared else rows.isolation.facts(len(rows))


def _tail_notes(rows: Rows, prompts: BlockKeys) -> list[str]:
    if not prompts.keys:
        return ["the file names no prefixes: no prompt shares anything with another"]
    short = int(np.count_nonzero(prompts.missing_blocks(rows.lengths())))
    return [f"{short:,} prompts have a tail without an id, which matches nothing"] if short else []


def _arrivals(rows: Rows, notes: list[str]) -> tuple[NDArray[np.int64] | None, Times | None]:
    """Return the order of arrival (None for the order of the file) and seconds since the first."""
    if not rows.time_ticks:
        return None, None
    order, times = rows.time_ticks.order(), rows.time_ticks.since_first()
    merged = int(np.count_nonzero(rows.time_ticks.merged(times)))
    if merged:
        notes.append(f"{merged:,} arrivals {MERGED}")
    if order is None:
        return None, times
    if not rows.closed_loop:
        notes.append("lines were not sorted by time: sorted, equal times keep the file's order")
    return order, times[order]


def with_jitter(trace: Trace, seed: int | None) -> Trace:
    """Return a trace with arrivals spread within its timestamp resolution, if there is a seed."""
    if seed is None or trace.arrival_seconds is None:
        return trace
    times, note = _jittered(trace.arrival_seconds, seed)
    return replace(trace, arrival_seconds=times, notes=(*trace.notes, note))


def _jittered(times: Times, seed: int) -> tuple[Times, str]:
    from workloads.ticks import jitter, tick_seconds

    tick = tick_seconds(times)
    if tick is None:
        return times, "arrivals have no tick: they are not jittered"
    return jitter(times, tick, seed), f"arrivals are spread within ticks of {tick:g} s, seed {seed}"


def _column(
    values: array[int], dtype: type[Number], order: NDArray[np.int64] | None
) -> NDArray[Number]:
    column = np.frombuffer(values, dtype=dtype)
    return column.copy() if order is None else column[order]

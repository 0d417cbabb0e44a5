"""Mooncake-style JSON lines: lengths, a time in milliseconds, and block hashes as ids.

Source: the traces released with Qin et al., "Mooncake", FAST 2025. Equal ids mean an equal prefix
up to and including that block; the last block may be partial. Other tools write the same rows under
other names: `input_tokens`, `output_tokens`, `created_time` (NVIDIA Dynamo), `block_size` in each
row (KVCache.AI), `prefix_block_hashes` as hexadecimal text (LiteLLM), `input_block_hash_ids`,
`block_ids` or `block_hashes` (Tair KVCache, in blocks of its own size).

- A row may have fewer ids than its prompt has blocks (ids of whole blocks only), not more; the rest
  of the prompt matches nothing. Ids are numbers up to 64 bits, or all text.
- A block size in a row overrides the option; rows of different sizes share nothing.
- Either all rows have times or none, except turns that arrive a `delay` after an answer. All times
  are numbers, or all are dates. Of `timestamp`, `created_time`, `time` and `arrival_time` the first
  present is used.
- Rows of sessions hold the whole context or only what is new, see `workloads.sessions.id_turns`
  (AIPerf's `context_mode` says which). Later turns of a session need no ids; this is noted.
- A missing output counts as 0, which means unknown.
- A row with two names of one field and different values is refused.
- `overlap_tokens` and `end_overlap_tokens`, the overlaps as counted by the file itself, are
  reported in a note.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.reading.fields import (
    MISSING,
    Problem,
    output_problem,
    prompt_problem,
    short,
)
from workloads.reading.id_blocks import IdBlocks
from workloads.reading.json_lines import explain, read_json_lines
from workloads.reading.times import (
    DATE_TICKS_PER_SECOND,
    OTHER_THINGS,
    UNWRITTEN,
    DateClock,
    Written,
    number_or_date,
)
from workloads.rows import Rows
from workloads.sessions.id_turns import IdTurns

BLOCK_TOKENS = 512

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Line(msgspec.Struct, gc=False):
    """A row under Mooncake's field names and all their alternatives."""

    input_length: int | None = None
    hash_ids: list[int | str] | None = None
    output_length: int | None = None
    timestamp: Written = UNWRITTEN
    delay: Decimal | None = None
    context_mode: Name | None = None
    block_size: int | None = None
    session_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None
    input_tokens: int | None = None
    prefix_block_hashes: list[int | str] | None = None
    input_block_hash_ids: list[int | str] | None = None
    block_ids: list[int | str] | None = None
    block_hashes: list[int | str] | None = None
    output_tokens: int | None = None
    created_time: Written = UNWRITTEN
    time: Written = UNWRITTEN
    arrival_time: Written = UNWRITTEN
    block_tokens: int | None = None
    overlap_tokens: int | None = None
    end_overlap_tokens: int | None = None


OTHER_NAMES = (
    ("input_length", "input_tokens"),
    ("hash_ids", "prefix_block_hashes"),
    ("hash_ids", "input_block_hash_ids"),
    ("hash_ids", "block_ids"),
    ("hash_ids", "block_hashes"),
    ("output_length", "output_tokens"),
    ("block_size", "block_tokens"),
)
TIME_NAMES = ("timestamp", "created_time", "time", "arrival_time")


class _FieldError(Exception):
    """Raised for a field that cannot be read; carries the field and the message."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.problem = field, what


class _Clock:
    """Reader of the times of a file, which are all numbers or all dates."""

    def __init__(self, rows: Rows, options: ReadOptions) -> None:
        self._rows = rows
        self._unit_given = options.time_unit is not None
        self._dates: DateClock | None = None
        self._numbers = False

    def read(self, line: _Line) -> Ticks | None:
        """Return the time of a row in ticks of the file's unit, None if it has none.

        Raises
        ------
        _FieldError
            For an invalid time, or a date after numbers or the reverse.
        """
        first: Ticks | None = None
        for name in TIME_NAMES:
            written = getattr(line, name)
            other_thing = name in {"time", "arrival_time"} and bytes(written)[:1] in OTHER_THINGS
            if other_thing or (first is not None and name != "created_time"):
                continue
            try:
                ticks = self._ticks(number_or_date(written))
            except (ValueError, msgspec.ValidationError) as error:
                raise _FieldError(name, _reason(error)) from None
            if None not in (first, ticks) and ticks != first:
                raise _FieldError(
                    name, "expected the value of the field 'timestamp', found another"
                )
            first = ticks if first is None else first
        return first

    def _ticks(self, time: int | Decimal | str | None) -> Ticks | None:
        if isinstance(time, str):
            return self._of_date(time)
        if time is not None and self._dates is not None:
            raise ValueError("expected a date as on the lines before, found a number")
        self._numbers = self._numbers or time is not None
        return time

    def _of_date(self, time: str) -> Decimal:
        if self._numbers:
            raise ValueError("expected a number as on the lines before, found text")
        if self._unit_given:
            raise ValueError("expected a number, which a unit of time was given for, found text")
        clock = self._dates or DateClock()
        ticks = clock.ticks(time)
        self._dates, self._rows.dated = clock, True
        return Decimal(ticks) * int(self._rows.ticks_per_second) / int(DATE_TICKS_PER_SECOND)


def _reason(error: Exception) -> str:
    return explain(str(error))[1] if isinstance(error, msgspec.ValidationError) else str(error)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; blocks have 512 tokens unless a row or the options say otherwise."""
    blocks = IdBlocks(options.block or BLOCK_TOKENS)
    rows = Rows(blocks.keys, options.on_bad_line, options.ticks_per_second("ms"))
    turns = IdTurns(rows, blocks, options)
    clock = _Clock(rows, options)

    def take(line: _Line, number: int) -> Problem | None:
        return _as_called(add(line, number), line)

    def add(line: _Line, number: int) -> Problem | None:
        problem = _rename(line) if _has_other_names(line) else None
        length, ids = line.input_length, line.hash_ids
        if ids is None and line.session_id is not None and line.session_id in rows.sessions:
            ids = []
            rows.note("no-ids", number, "a later turn without ids: what it adds matches nothing")
        if problem is not None or length is None or ids is None:
            return problem or ("input_length" if length is None else "hash_ids", MISSING)
        try:
            stamp = clock.read(line)
        except _FieldError as error:
            return error.problem
        problem = (
            _problem(line, length)
            or turns.problem(line.session_id, stamp, line.delay)
            or blocks.add("hash_ids", ids, length, line.block_size)
        )
        if problem is None:
            label = line.type if line.label is None else line.label
            output = line.output_length or 0
            if line.context_mode is not None:
                turns.declared_incremental.add(line.context_mode.startswith("deltas"))
            time = turns.ticks(line.session_id, stamp, line.delay, number)
            rows.add(number, length, output, time, line.session_id, label)
            if line.overlap_tokens is not None:
                counted.append((line.overlap_tokens, line.end_overlap_tokens or 0))
        return problem

    counted: list[tuple[int, int]] = []
    read_json_lines(path, rows, _Line, take)
    rows.facts += _counted_fact(counted, rows)
    return turns.finish(str(path))


def _counted_fact(counted: list[tuple[int, int]], rows: Rows) -> list[str]:
    """Return a note on overlaps to the token, if all rows of the file state them."""
    if not counted or len(counted) != len(rows):
        return []
    total = sum(rows.prompt_tokens)
    shares = [f"{sum(column) / total:.3f}" for column in zip(*counted, strict=True)]
    return [
        f"the file counts overlaps to the token: {shares[0]} of the prompt tokens were seen "
        f"before, {shares[1]} as whole earlier prompts"
    ]


def _names(name: str) -> list[str]:
    """Return the field names that are read as `name`."""
    return [name, *(other for of, other in OTHER_NAMES if of == name)]


def _has_other_names(line: _Line) -> bool:
    return not (
        line.input_tokens is None
        and line.prefix_block_hashes is None
        and line.input_block_hash_ids is None
        and line.block_ids is None
        and line.block_hashes is None
        and line.output_tokens is None
        and line.block_tokens is None
    )


def _rename(line: _Line) -> Problem | None:
    """Move values to Mooncake's field names; return a field that conflicts with another, if any."""
    for name, other in OTHER_NAMES:
        value, own = getattr(line, other), getattr(line, name)
        if value is not None:
            if own is not None and own != value:
                return other, f"expected the value of the field '{name}', found another"
            setattr(line, name, value)
    return None


def _as_called(problem: Problem | None, line: _Line) -> Problem | None:
    """Return a problem whose field has the name that is used in the file."""
    if problem is None or problem[0] is None:
        return problem
    name, bracket, at = problem[0].partition("[")
    for other in TIME_NAMES if name == "timestamp" else _names(name)[1:]:
        if getattr(line, other) not in (None, UNWRITTEN):
            return f"{other}{bracket}{at}", problem[1]
    return problem


def _problem(line: _Line, length: int) -> Problem | None:
    return (
        prompt_problem("input_length", length)
        or output_problem("output_length", line.output_length or 0)
        or _counted_problem(line, length)
    )


def _counted_problem(line: _Line, length: int) -> Problem | None:
    counted = (
        ("overlap_tokens", line.overlap_tokens),
        ("end_overlap_tokens", line.end_overlap_tokens),
    )
    for name, tokens in counted:
        if tokens is not None and not 0 <= tokens <= length:
            return name, f"expected 0 to {length} tokens of the prompt, found {short(tokens)}"
    return None


def matches(head: Head) -> bool:
    """Return whether lines are objects with lengths and ids."""
    return any(
        head.has(length, ids) for length in _names("input_length") for ids in _names("hash_ids")
    )


MOONCAKE = TraceFormat(
    name="mooncake",
    title="Mooncake JSON lines: lengths, milliseconds, ids of 512-token prefixes",
    read=read,
    matches=matches,
    options=frozenset({"block", "time_unit", "rows", "session_rate", "seed"}),
)

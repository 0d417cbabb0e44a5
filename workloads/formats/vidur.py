"""Vidur request traces: arrivals in seconds, and lengths.

Source: microsoft/vidur and the tools that write its `arrived_at,num_prefill_tokens,
num_decode_tokens`. Some add `session_id`; then rows may be read as incremental, with what each adds
to its session, but are cumulative by default. Files without `arrived_at` have no times. A prompt of
no token is left out and noted.

Tables with other common names for lengths or times (`NAMINGS`, `TIMES`) are read in the same way,
with a note on the columns used.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_lines import Name, read_csv_lines
from workloads.reading.fields import Problem
from workloads.reading.head import read_head
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest

FIELDS = Fields("num_prefill_tokens", "num_decode_tokens", "arrived_at", "session_id")
NAMINGS = (  # columns of the prompt's length and the answer's
    (FIELDS.prompt, FIELDS.output),
    ("input_length", "output_length"),
    ("input_tokens", "output_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("prompt_tokens", "output_tokens"),
    ("prompt_len", "output_len"),
    ("input_len", "output_len"),
)
TIMES = (FIELDS.time, "arrival_time", "timestamp")
MORE = (
    "prompt",
    "text",
    "input",
    "prefix_len",
    "hash_ids",
)  # a table with one of these holds more than lengths


class _Line(msgspec.Struct, gc=False):
    num_prefill_tokens: int
    num_decode_tokens: int
    arrived_at: Decimal | None = None
    session_id: Name | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file whose times are in seconds by default."""
    columns = read_head(path).columns
    fields = _fields(columns)
    taken = LengthRows.of(options, fields, options.ticks_per_second("s"))
    if fields != FIELDS:
        taken.rows.facts.append(_assumed(fields, columns, options))

    def take(line: _Line, number: int) -> Problem | None:
        lengths = line.num_prefill_tokens, line.num_decode_tokens
        return taken.take(SizedRequest(*lengths, line.arrived_at, line.session_id), number)

    read_csv_lines(path, taken.rows, _kind(fields), take)
    return taken.rows


def _fields(columns: tuple[str, ...]) -> Fields:
    """Return the names of a table's columns, or Vidur's names for missing ones."""
    there = (pair for pair in NAMINGS if set(pair) <= set(columns))
    prompt, output = next(there, NAMINGS[0])
    time = next((name for name in TIMES if name in columns), FIELDS.time)
    return Fields(prompt, output, time, FIELDS.session)


def _kind(fields: Fields) -> type[_Line]:
    """Return the record type of a table whose columns have these names."""
    if fields == FIELDS:
        return _Line
    renamed: list[tuple[str, Any, Any]] = [
        (FIELDS.prompt, int, msgspec.field(name=fields.prompt)),
        (FIELDS.output, int, msgspec.field(name=fields.output)),
        (FIELDS.time, Decimal | None, msgspec.field(default=None, name=fields.time)),
        ("session_id", Name | None, None),
    ]
    return cast("type[_Line]", msgspec.defstruct("_Renamed", renamed, bases=(_Line,), gc=False))


def _assumed(fields: Fields, columns: tuple[str, ...], options: ReadOptions) -> str:
    """Return a note on the columns that were used in place of Vidur's."""
    lengths = f"lengths are taken from '{fields.prompt}' and '{fields.output}'"
    if fields.time not in columns:
        return f"{lengths}; no times"
    unit = "seconds (--time-unit)" if options.time_unit is None else options.time_unit
    return f"{lengths}; times from '{fields.time}' are in {unit}"


def matches(head: Head) -> bool:
    """Return whether a table has columns of lengths; under other names, only without prompts."""
    if head.has_columns(*NAMINGS[0]):
        return True
    named = any(head.has_columns(*pair) for pair in NAMINGS[1:])
    return named and not any(name in head.columns for name in MORE)


VIDUR = TraceFormat(
    name="vidur",
    title="Vidur CSV: seconds and lengths, no prefixes",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows"}),
)

"""Vidur request traces: arrivals in seconds, and lengths.

Source: microsoft/vidur and the tools that write its `arrived_at,num_prefill_tokens,
num_decode_tokens`. Some add `session_id`; then rows may be read as incremental: what each adds to
its session. Cumulative is the default. Files of lengths alone have no `arrived_at`: they tell no
times. A prompt of no token is left out and noted.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_lines import Name, read_csv_lines
from workloads.reading.fields import Problem
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, Request

FIELDS = Fields("num_prefill_tokens", "num_decode_tokens", "arrived_at", "session_id")


class _Line(msgspec.Struct, gc=False):
    num_prefill_tokens: int
    num_decode_tokens: int
    arrived_at: Decimal | None = None
    session_id: Name | None = None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file whose times are seconds where the options do not say otherwise."""
    taken = LengthRows.of(options, FIELDS, options.ticks_per_second("s"))

    def take(line: _Line, number: int) -> Problem | None:
        lengths = line.num_prefill_tokens, line.num_decode_tokens
        return taken.take(Request(*lengths, line.arrived_at, line.session_id), number)

    read_csv_lines(path, taken.rows, _Line, take)
    return taken.rows


def matches(head: Head) -> bool:
    """Recognise the columns of lengths."""
    return head.has_columns(FIELDS.prompt, FIELDS.output)


VIDUR = TraceFormat(
    name="vidur",
    title="Vidur CSV: seconds and lengths, no prefixes",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows"}),
)

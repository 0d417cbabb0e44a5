"""Azure LLM inference traces: dates and lengths, without prefixes.

Source: the traces of 2023 and 2024 in Azure/AzurePublicDataset (Patel et al., "Splitwise", ISCA
2024; Stojkovic et al., "DynamoLLM", HPCA 2025). The files of 2023 have seven decimals of a second,
no time zone, CRLF line ends and no newline at the end; those of 2024 have six decimals and a time
zone. Times are read to the nanosecond; a file without their column has no times. A prompt of no
token is left out and noted.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_lines import read_csv_lines
from workloads.reading.fields import Problem
from workloads.reading.times import DATE_TICKS_PER_SECOND, DateClock
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest

FIELDS = Fields("ContextTokens", "GeneratedTokens", "TIMESTAMP")


class _Line(msgspec.Struct, gc=False):
    prompt: int = msgspec.field(name="ContextTokens")
    output: int = msgspec.field(name="GeneratedTokens")
    time: str | None = msgspec.field(name="TIMESTAMP", default=None)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; raise `DataError` for an invalid date."""
    taken = LengthRows.of(options, FIELDS, DATE_TICKS_PER_SECOND)
    clock = DateClock()

    def take(line: _Line, number: int) -> Problem | None:
        try:
            ticks = None if line.time is None else clock.ticks(line.time)
        except ValueError as error:
            return FIELDS.time, str(error)
        return taken.take(SizedRequest(line.prompt, line.output, ticks), number)

    read_csv_lines(path, taken.rows, _Line, take)
    return taken.rows


def matches(head: Head) -> bool:
    """Return whether the table has the columns of lengths."""
    return head.has_columns(FIELDS.prompt, FIELDS.output)


AZURE = TraceFormat(
    name="azure",
    title="Azure LLM CSV: dates and lengths, no prefixes",
    read=read,
    matches=matches,
)

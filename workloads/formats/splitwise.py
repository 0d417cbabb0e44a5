"""Traces of the Splitwise simulator: arrivals in seconds, lengths, and an application.

Source: Mutinifni/splitwise-sim. `prompt_size` and `token_size` are tokens of the prompt and of the
answer; the application is the label. Only requests of type 2 are for language models: others are
left out and noted. A batch of several is read as one request and noted. A prompt of no token is
left out and noted. A file without the column of times has no times.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_lines import read_csv_lines
from workloads.reading.fields import Problem
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest

FIELDS = Fields("prompt_size", "token_size", "arrival_timestamp")

_LANGUAGE_MODEL = 2


class _Line(msgspec.Struct, gc=False):
    prompt_size: int
    token_size: int
    arrival_timestamp: Decimal | None = None
    request_type: int = _LANGUAGE_MODEL
    application_id: int | None = None
    batch_size: int = 1


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file whose times are in seconds by default."""
    taken = LengthRows.of(options, FIELDS, options.ticks_per_second("s"))

    def take(line: _Line, number: int) -> Problem | None:
        if line.request_type != _LANGUAGE_MODEL:
            detail = "a request of no language model (request_type is not 2): left out"
            taken.rows.note("other-request", number, detail)
            return None
        times = line.arrival_timestamp
        request = SizedRequest(line.prompt_size, line.token_size, times, label=line.application_id)
        problem = taken.take(request, number)
        if problem is None and line.batch_size != 1:
            taken.rows.note("batched", number, "batch_size is not 1: read as one request")
        return problem

    read_csv_lines(path, taken.rows, _Line, take)
    return taken.rows


def matches(head: Head) -> bool:
    """Return whether the table has the columns of lengths."""
    return head.has_columns(FIELDS.prompt, FIELDS.output)


SPLITWISE = TraceFormat(
    name="splitwise",
    title="Splitwise CSV: seconds, lengths and applications, no prefixes",
    read=read,
    matches=matches,
    options=frozenset({"time_unit"}),
    not_needed={"request_id": "requests are told apart by their line"},
)

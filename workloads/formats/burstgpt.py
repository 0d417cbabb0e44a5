"""BurstGPT traces: arrivals in seconds, lengths, models, and sessions in later releases.

Source: HPMLL/BurstGPT (Wang et al., "BurstGPT", KDD 2025): releases 1 and 2 have six columns,
release 3 adds `Session ID` and `Elapsed time`, which is ignored. Labels are the log type and the
model.

- A failed request has no response tokens. It did arrive, so it is kept, and noted.
- A prompt of no token is left out and noted. A file without the column of times has no times.
- Tokens that do not add up to `Total tokens` make a bad line.
- Traces begin with weeks of almost no requests. Where the first hundredth of the requests takes
  more than a tenth of the time, that is noted as an idle head.
- Rows of sessions are cumulative by default.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import msgspec
import numpy as np

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_lines import Name, read_csv_lines
from workloads.reading.fields import Problem
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest

FIELDS = Fields("Request tokens", "Response tokens", "Timestamp", "Session ID")

_HEAD_REQUESTS = 0.01  # share of the requests
_HEAD_TIME = 0.1  # share of the time
_FEWEST = 200  # requests; with fewer, a hundredth of them is too few to judge by


class _Line(msgspec.Struct, gc=False):
    prompt: int = msgspec.field(name="Request tokens")
    output: int = msgspec.field(name="Response tokens")
    time: Decimal | None = msgspec.field(name="Timestamp", default=None)
    total: int | None = msgspec.field(name="Total tokens", default=None)
    model: Name | None = msgspec.field(name="Model", default=None)
    log: Name | None = msgspec.field(name="Log Type", default=None)
    session: Name | None = msgspec.field(name="Session ID", default=None)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file whose times are in seconds by default."""
    taken = LengthRows.of(options, FIELDS, options.ticks_per_second("s"))

    def take(line: _Line, number: int) -> Problem | None:
        if line.total is not None and line.total != line.prompt + line.output:
            summed = f"{line.prompt} + {line.output} tokens of request and response"
            return "Total tokens", f"expected {summed}, found {line.total}"
        label = ", ".join(name for name in (line.log, line.model) if name) or None
        problem = taken.take(
            SizedRequest(line.prompt, line.output, line.time, line.session, label), number
        )
        if problem is None and not line.output:
            taken.rows.note("failure", number, "no response token: a failed request, kept")
        return problem

    read_csv_lines(path, taken.rows, _Line, take)
    _note_idle_head(taken.rows)
    return taken.rows


def _note_idle_head(rows: Rows) -> None:
    """Note a long time at the start with almost no requests."""
    times = np.sort(rows.time_ticks.since_first())
    if len(times) < _FEWEST or times[-1] == times[0]:
        return
    idle = times[int(_HEAD_REQUESTS * len(times))] - times[0]
    share = idle / (times[-1] - times[0])
    if share > _HEAD_TIME:
        detail = f"the first {_HEAD_REQUESTS:.0%} of the requests take {share:.0%} of the time"
        rows.note("idle-head", rows.line[0], f"{detail} ({idle:,.0f} s)")


def matches(head: Head) -> bool:
    """Return whether the table has the columns of lengths."""
    return head.has_columns(FIELDS.prompt, FIELDS.output)


BURSTGPT = TraceFormat(
    name="burstgpt",
    title="BurstGPT CSV: seconds, lengths, models and sessions, no prefixes",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows"}),
    not_needed={"Elapsed time": "how long a server took says nothing of another"},
)

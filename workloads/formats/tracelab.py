"""TraceLab session workloads: rounds (model calls) of coding agents, replayed in a closed loop.

Source: uw-syfi/TraceLab, `replay` and `csv_export`. A round keeps the first `prefix_len` tokens of
its session's context (prompt and answer of the previous round) and appends `input_len`. See
`workloads.sessions.rounds` for a prefix that is shorter or longer than the context.

- `arrival_time`, in milliseconds, is the session's start. The value in its first round is used;
  other values are noted. Where no row has one, sessions all start at 0, which is noted, or at a
  `session_rate`.
- A later round arrives once the previous answer is complete (see `workloads.sessions.closed_loop`)
  and `tool_wait_after_ms` has passed.
- Rounds are in the order of `round_idx`, ties in the order of the file.
- Rows are incremental; read as cumulative, `input_len` is the whole prompt, prefix included.
- A prompt of no token is left out and noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import msgspec

from simulator.base.errors import SettingError, printable
from workloads.formats.format import Head, TraceFormat
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.reading.csv_lines import Name, read_csv_lines
from workloads.reading.fields import MISSING, Problem, time_problem
from workloads.rows import Rows
from workloads.sessions.closed_loop import note_closed_loop, turn_ticks
from workloads.sessions.layout import lay_out
from workloads.sessions.rounds import Round, Rounds

_MS_PER_SECOND = 1000


class _Line(msgspec.Struct, gc=False):
    prefix_len: int
    input_len: int
    output_len: int
    session_id: Name | None = None
    id: Name | None = None
    round_idx: int = 0
    arrival_time: Decimal | None = None
    tool_wait_after_ms: Decimal = Decimal(0)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; `arrival_time` is in milliseconds by default."""
    rounds = Rounds.of(options, options.ticks_per_second("ms"))
    whole = options.rows == "cumulative"
    started = False

    def take(line: _Line, number: int) -> Problem | None:
        nonlocal started
        started = started or line.arrival_time is not None
        session = line.id if line.session_id is None else line.session_id
        if line.session_id is not None and line.id is not None:
            rounds.rows.unused.add(["id"], number)
        if session is None:
            return "session_id", MISSING
        now = _round(line, number, rounds.rows.ticks_per_second, whole=whole)
        problem = now.problem("prefix_len", "input_len", "output_len") or _time_problem(
            line, rounds
        )
        if problem is None:
            rounds.sessions[session].append(now)
        return problem

    def times(ordered: list[Round]) -> Sequence[Ticks]:
        return _times(ordered, rounds.rows)

    read_csv_lines(path, rounds.rows, _Line, take)
    rows = rounds.finish(str(path), times)
    if not started:
        lay_out(rows, options)
    elif options.session_rate is not None:
        raise SettingError("session_rate", f"{printable(str(path))} says when its sessions start")
    return rows


def _round(line: _Line, number: int, ticks_per_second: float, *, whole: bool) -> Round:
    return Round(
        line=number,
        index=line.round_idx,
        prefix_tokens=line.prefix_len,
        new_tokens=line.input_len - line.prefix_len if whole else line.input_len,
        output_tokens=line.output_len,
        ticks=line.arrival_time or 0,
        wait_ticks=line.tool_wait_after_ms * int(ticks_per_second) / _MS_PER_SECOND,
    )


def _time_problem(line: _Line, rounds: Rounds) -> Problem | None:
    return time_problem(
        "arrival_time", line.arrival_time, rounds.rows.ticks_per_second
    ) or time_problem("tool_wait_after_ms", line.tool_wait_after_ms, _MS_PER_SECOND)


def _times(ordered: list[Round], rows: Rows) -> Sequence[Ticks]:
    """Return the times of a session's rounds; note conflicting arrival times."""
    start = ordered[0].ticks
    for now in ordered[1:]:
        note_closed_loop(rows, now.line)
        if now.ticks != start:
            detail = "an arrival_time that is not that of its session's first round: passed over"
            rows.note("other-arrival", now.line, detail)
    outputs = [now.output_tokens for now in ordered]
    waits = [now.wait_ticks for now in ordered]
    return turn_ticks(start, outputs, waits, rows.ticks_per_second)


def matches(head: Head) -> bool:
    """Return whether the table has the lengths of rounds and a session id."""
    lengths = head.has_columns("prefix_len", "input_len", "output_len", "round_idx")
    return lengths and (head.has_columns("session_id") or head.has_columns("id"))


TRACELAB = TraceFormat(
    name="tracelab",
    title="TraceLab session CSV: rounds of growing sessions, waits in milliseconds",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows", "session_rate", "seed"}),
)

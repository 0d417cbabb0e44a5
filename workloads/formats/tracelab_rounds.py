"""TraceLab round traces: each line is a round, one call of a coding agent, with dated events.

Source: uw-syfi/TraceLab, the normalized trace and its schema. `input_tokens_total` is the sum of
`prefix_tokens`, which the provider's cache held, and `newly_append_tokens`; a line in which they do
not add up is a bad line. See `workloads.sessions.rounds` for the prefix tree. Overlaps are known
only from what the cache held: where it missed part of the session's context, the round is read as
sharing less, so that real overlaps are at least as long.

- A round arrives with the last of its inputs (user messages and tool results), else with its first
  event; a round without any is left out and noted.
- Rounds are in the order of `round_index`, ties in the order of the file.
- Labels are the models. A prompt of no token is left out and noted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem
from workloads.reading.json_lines import read_json_lines
from workloads.reading.times import DATE_TICKS_PER_SECOND, DateClock
from workloads.rows import Rows
from workloads.sessions.rounds import Round, Rounds

Name = Annotated[str, msgspec.Meta(max_length=200)]

_INPUTS = {"user_message", "tool_result"}


class _Event(msgspec.Struct, gc=False):
    event_type: str
    timestamp: str | None = None


class _Line(msgspec.Struct, gc=False):
    session_id: Name
    input_tokens_total: int
    prefix_tokens: int
    newly_append_tokens: int
    output_tokens: int
    round_index: int = 0
    model: Name | None = None
    timing_events: list[_Event] = []


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; raise `DataError` for an invalid date."""
    rounds = Rounds.of(options, DATE_TICKS_PER_SECOND)
    clock = DateClock()

    def take(line: _Line, number: int) -> Problem | None:
        try:
            ticks = _ticks(line, clock)
        except ValueError as error:
            return "timing_events", str(error)
        now = _round(line, number, ticks or 0)
        problem = _sum_problem(line) or now.problem(
            "prefix_tokens", "newly_append_tokens", "output_tokens"
        )
        if problem is None and ticks is None:
            rounds.rows.note("no-time", number, "a round without a dated event: left out")
        elif problem is None:
            rounds.sessions[line.session_id].append(now)
        return problem

    read_json_lines(path, rounds.rows, _Line, take)
    return rounds.finish(str(path), lambda ordered: [now.ticks for now in ordered])


def _ticks(line: _Line, clock: DateClock) -> int | None:
    dated = [event for event in line.timing_events if event.timestamp is not None]
    inputs = [event for event in dated if event.event_type in _INPUTS]
    ticks = [clock.ticks(event.timestamp or "") for event in inputs or dated]
    if not ticks:
        return None
    return max(ticks) if inputs else min(ticks)


def _round(line: _Line, number: int, ticks: int) -> Round:
    return Round(
        line=number,
        index=line.round_index,
        prefix_tokens=line.prefix_tokens,
        new_tokens=line.newly_append_tokens,
        output_tokens=line.output_tokens,
        ticks=ticks,
        label=line.model,
    )


def _sum_problem(line: _Line) -> Problem | None:
    if line.input_tokens_total == line.prefix_tokens + line.newly_append_tokens:
        return None
    summed = f"{line.prefix_tokens} + {line.newly_append_tokens} tokens of prefix and append"
    return "input_tokens_total", f"expected {summed}, found {line.input_tokens_total}"


def matches(head: Head) -> bool:
    """Return whether lines have the lengths of a round."""
    return head.has("session_id", "prefix_tokens", "newly_append_tokens", "input_tokens_total")


TRACELAB_ROUNDS = TraceFormat(
    name="tracelab-rounds",
    title="TraceLab round JSON lines: dated rounds of growing sessions",
    read=read,
    matches=matches,
)

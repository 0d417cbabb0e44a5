"""LLMServingSim workloads: times in nanoseconds, and token ids of prompts and answers.

Source: casys-kaist/LLMServingSim, `workloads`. A line is a request, or a session whose
`sub_requests` follow each other.

- Either all requests of a file have token ids or none. With ids, prompts are whole, and answers are
  known where `output_tok_ids` lists them. Without ids, rows are cumulative by default, and then
  share nothing.
- Numbers of ids that differ from `input_toks` or `output_toks` make a bad line.
- A sub-request arrives once the answer before it is complete (see `workloads.sessions.closed_loop`)
  and `tool_duration_ns` has passed.
- A prompt of no token is left out and noted.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import SettingError, printable
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.prefixes.prompts import TokenLists
from workloads.reading.fields import MISSING, Problem, output_problem, short, time_problem
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.sessions.closed_loop import note_closed_loop, turn_ticks
from workloads.sessions.length_rows import (
    Fields,
    LengthRows,
    SizedRequest,
    length_problem,
    note_empty_prompt,
)

FIELDS = Fields("input_toks", "output_toks", "arrival_time_ns", "session_id")
NS_PER_SECOND = 1e9
MAX_TOKEN_ID = (1 << 31) - 1

Name = Annotated[str, msgspec.Meta(max_length=200)]
Tokens = NDArray[np.int32]


class _Call(msgspec.Struct, gc=False):
    input_toks: int
    output_toks: int
    tool_duration_ns: Decimal = Decimal(0)
    input_tok_ids: list[int] | None = None
    output_tok_ids: list[int] | None = None


class _Line(msgspec.Struct, gc=False):
    arrival_time_ns: int
    input_toks: int | None = None
    output_toks: int | None = None
    input_tok_ids: list[int] | None = None
    output_tok_ids: list[int] | None = None
    session_id: Name | int | None = None
    sub_requests: list[_Call] = []

    def calls(self) -> list[_Call]:
        """Return the line's requests, none where a field is missing."""
        if self.sub_requests or self.input_toks is None or self.output_toks is None:
            return self.sub_requests
        ids = self.input_tok_ids, self.output_tok_ids
        return [_Call(self.input_toks, self.output_toks, Decimal(0), *ids)]


class _Reader:
    """Reader of one file, which collects its rows."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.lengths = LengthRows.of(options, FIELDS, NS_PER_SECOND)
        self.rows = self.lengths.rows
        self.incremental = options.rows == "incremental"
        self.tokens = TokenLists()
        self.with_ids: bool | None = None

    def take(self, line: _Line, number: int) -> Problem | None:
        """Add the requests of a line, or return what is wrong with one."""
        calls = line.calls()
        if not calls:
            missing = "input_toks" if line.input_toks is None else "output_toks"
            return missing, MISSING
        problem = time_problem("arrival_time_ns", line.arrival_time_ns, NS_PER_SECOND)
        problem = problem or self._ids_problem(calls)
        for call in calls:
            problem = problem or _problem(call)
        return problem or self._add_all(line, calls, number)

    def _ids_problem(self, calls: list[_Call]) -> Problem | None:
        if self.with_ids is None:
            self._decide(calls[0].input_tok_ids is not None)
        detail = "found some here" if not self.with_ids else "found none here"
        if any((call.input_tok_ids is not None) != self.with_ids for call in calls):
            return "input_tok_ids", f"expected ids on every request or on none, {detail}"
        return None

    def _decide(self, with_ids: bool) -> None:
        """Expect on all requests what the first one has: token ids or lengths only."""
        if with_ids and self.incremental:
            name = printable(str(self.path))
            raise SettingError("rows", f"{name} names whole prompts by their ids: cumulative rows")
        self.with_ids = with_ids
        if with_ids:
            self.rows.prompts = self.tokens

    def _add_all(self, line: _Line, calls: list[_Call], number: int) -> Problem | None:
        outputs = [call.output_toks for call in calls]
        waits = [call.tool_duration_ns for call in calls]
        times = turn_ticks(line.arrival_time_ns, outputs, waits, NS_PER_SECOND)
        problem = None
        for at, (call, ticks) in enumerate(zip(calls, times, strict=True)):
            if at:
                note_closed_loop(self.rows, number)
            lengths = call.input_toks, call.output_toks
            request = SizedRequest(*lengths, ticks, line.session_id)
            if self.with_ids:
                self._add_tokens(call, request, number)
            else:
                problem = problem or self.lengths.take(request, number)
        return problem

    def _add_tokens(self, call: _Call, request: SizedRequest, number: int) -> None:
        prompt, answer = _tokens(call.input_tok_ids), _tokens(call.output_tok_ids)
        if prompt is None or not len(prompt):
            note_empty_prompt(self.rows, number)
            return
        self.tokens.add(prompt, answer)
        output, ticks = request.output_tokens, request.ticks
        self.rows.add(number, len(prompt), output, ticks, request.session)


def _problem(call: _Call) -> Problem | None:
    return (
        length_problem("input_toks", call.input_toks)
        or output_problem("output_toks", call.output_toks)
        or time_problem("tool_duration_ns", call.tool_duration_ns, NS_PER_SECOND)
        or _ids_problem("input_tok_ids", call.input_tok_ids, "input_toks", call.input_toks)
        or _ids_problem("output_tok_ids", call.output_tok_ids, "output_toks", call.output_toks)
    )


def _ids_problem(field: str, ids: list[int] | None, count_field: str, count: int) -> Problem | None:
    if ids is None:
        return None
    if len(ids) != count:
        return field, f"expected {count} ids as '{count_field}' says, found {len(ids)}"
    if not ids or (min(ids) >= 0 and max(ids) <= MAX_TOKEN_ID):
        return None
    wrong = next(at for at, key in enumerate(ids) if not 0 <= key <= MAX_TOKEN_ID)
    shown = short(ids[wrong])
    return f"{field}[{wrong}]", f"expected a token id from 0 to {MAX_TOKEN_ID}, found {shown}"


def _tokens(ids: list[int] | None) -> Tokens | None:
    return None if ids is None else np.array(ids, dtype=np.int32)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For the option of incremental rows where the file has whole prompts.
    """
    reader = _Reader(path, options)
    return read_json_lines(path, reader.rows, _Line, reader.take)


def matches(head: Head) -> bool:
    """Return whether lines have lengths and a time in nanoseconds."""
    return head.has("arrival_time_ns") and head.mentions("input_toks", "output_toks")


LLMSERVINGSIM = TraceFormat(
    name="llmservingsim",
    title="LLMServingSim JSON lines: nanoseconds, token ids of prompts and answers",
    read=read,
    matches=matches,
    options=frozenset({"rows"}),
)

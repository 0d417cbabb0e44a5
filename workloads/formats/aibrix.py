"""AIBrix workloads: requests grouped by timestamp, as text or as lengths.

Source: vllm-project/aibrix, `benchmarks`. Its workload generator writes JSON lines, or one JSON
list, of `timestamp` in milliseconds and `requests`, each with `prompt`, `prompt_length`,
`output_length` and `session_id` (in earlier versions `Prompt`, `Prompt Length` and so on).

- Requests of one timestamp arrive together, in the order of the list. A line with a bad request is
  refused as a whole.
- If the first request has text, all must have it: overlaps are those of the texts, and prompts are
  counted in tokens of the text; a `prompt_length` that differs by over a tenth is noted. Otherwise
  only lengths are known, and prompts share nothing.
- Text is a whole prompt, used as it is; lists of messages are rendered with the chat template.
- An unknown `output_length` (null) counts as 0. The label is the model, where one is named.
- A model, salt or adapter on a request overrides that of its line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from simulator.base.errors import DataError, SettingError, printable
from workloads.formats.format import Head, TraceFormat
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.prefixes.key_fields import Keyed
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import MISSING, Problem, output_problem, time_problem
from workloads.reading.json_document import read_json_documents
from workloads.reading.json_lines import read_json_lines
from workloads.reading.reader import read_start
from workloads.reading.times import UNWRITTEN, Written, number_or_date
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest, length_problem
from workloads.text.prompt_line import TextOrMessages, note_length, prompt_tokens
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError
from workloads.text.tokenizer import Tokens

FIELDS = Fields("prompt_length", "output_length", "timestamp", "session_id")

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Request(Keyed, gc=False):
    model: Name | None = None
    prompt: TextOrMessages | None = None
    prompt_length: int | None = None
    output_length: int | None = None
    session_id: Name | int | None = None
    old_prompt: TextOrMessages | None = msgspec.field(name="Prompt", default=None)
    old_prompt_length: int | None = msgspec.field(name="Prompt Length", default=None)
    old_output_length: int | None = msgspec.field(name="Output Length", default=None)
    old_session_id: Name | int | None = msgspec.field(name="Session ID", default=None)

    def named_as_now(self) -> _Request:
        """Move values from the field names of earlier versions to the current ones."""
        for field in ("prompt", "prompt_length", "output_length", "session_id"):
            if getattr(self, field) is None:
                setattr(self, field, getattr(self, f"old_{field}"))
        return self


class _Line(Keyed, gc=False):
    timestamp: Written = UNWRITTEN
    requests: list[_Request] | None = None
    old_timestamp: Written = msgspec.field(name="Timestamp", default=UNWRITTEN)
    old_requests: list[_Request] | None = msgspec.field(name="Requests", default=None)


class _BadRequestError(ValueError):
    """Raised for a request that cannot be used; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem


class _Reader:
    """Reader of one file, which collects its rows."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.rows = Rows(BlockKeys(1), options.on_bad_line, options.ticks_per_second("ms"))
        self.lengths = LengthRows.into(self.rows, FIELDS, incremental=options.rows == "incremental")
        self.texts: TextRows | None = None
        self.requests = 0

    def take(self, line: _Line, number: int) -> Problem | None:
        """Add the requests of a timestamp, or return what is wrong with one of them."""
        requests = line.old_requests if line.requests is None else line.requests
        if requests is None:
            return "requests", MISSING
        time = _time(line)
        if time is None or isinstance(time, str):
            return "timestamp", "expected a number, found " + ("none" if time is None else "text")
        problem = time_problem("timestamp", time, self.rows.ticks_per_second)
        return problem or self._take_all(line.key(), requests, time, number)

    def _take_all(
        self, around: dict[str, Any], requests: list[_Request], time: Ticks, number: int
    ) -> Problem | None:
        """Check all requests of a timestamp, then add them."""
        prompts: list[Tokens | None] = []
        for at, request in enumerate(requests):
            try:
                prompts.append(self._checked(request.named_as_now(), number))
            except _BadRequestError as error:
                return _within(at, error.problem)
        for at, (request, prompt) in enumerate(zip(requests, prompts, strict=True)):
            self.rows.isolation.look_within(number, around | request.key())
            problem = self._add(request, prompt, time, number)
            if problem is not None:
                return _within(at, problem)
        return None

    def _checked(self, request: _Request, number: int) -> Tokens | None:
        """Return the tokens of a prompt, None if only lengths are known."""
        if not self.requests and request.prompt is not None:
            self._with_texts()
        self.requests += 1
        problem = output_problem("output_length", request.output_length or 0)
        if problem is not None:
            raise _BadRequestError(problem)
        if self.texts is not None:
            return _tokens(self.texts, request.prompt, number)
        if request.prompt_length is None:
            raise _BadRequestError(("prompt_length", MISSING))
        problem = length_problem("prompt_length", request.prompt_length)
        if problem is not None:
            raise _BadRequestError(problem)
        return None

    def _add(
        self, request: _Request, prompt: Tokens | None, time: Ticks, number: int
    ) -> Problem | None:
        if self.texts is not None and prompt is not None:
            return _add_text(self.texts, request, prompt, time, number)
        lengths = request.prompt_length or 0, request.output_length or 0
        return self.lengths.take(
            SizedRequest(*lengths, time, request.session_id, request.model), number
        )

    def _with_texts(self) -> None:
        """Switch to reading text; the first request has it, so all must."""
        if self.options.rows == "incremental":
            name = printable(str(self.path))
            raise SettingError("rows", f"{name} has whole prompts as text: cumulative rows")
        self.texts = TextRows.into(self.rows, self.options)

    def finish(self, path: Path) -> Rows:
        """Return the rows, with a note on how their tokens were counted."""
        if not self.requests and self.rows.first_bad is None:
            raise DataError(str(path), "expected requests, found none")
        return self.rows if self.texts is None else self.texts.finish()


def _tokens(texts: TextRows, content: TextOrMessages | None, number: int) -> Tokens:
    if content is None:
        what = "expected a text as in the first request, found none"
        raise _BadRequestError(("prompt", what))
    try:
        prompt = prompt_tokens(texts, content, number)
    except RenderError as error:
        raise _BadRequestError(("prompt", str(error))) from None
    problem = length_problem("prompt", len(prompt))
    if problem is not None:
        raise _BadRequestError(problem)
    return prompt


def _add_text(
    texts: TextRows, request: _Request, prompt: Tokens, time: Ticks, number: int
) -> Problem | None:
    problem = texts.add(
        TextRequest(
            line=number,
            prompt=prompt,
            output_tokens=request.output_length or 0,
            time=time,
            session=request.session_id,
            label=request.model,
        )
    )
    if problem is None:
        note_length(texts, number, ("prompt_length", request.prompt_length), len(prompt))
    return problem


def _time(line: _Line) -> Ticks | str | None:
    time = number_or_date(line.timestamp)
    return number_or_date(line.old_timestamp) if time is None else time


def _within(at: int, problem: Problem) -> Problem:
    field, what = problem
    return f"requests[{at}].{field}", what


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file of JSON lines or one JSON list; a list's entries are numbered as lines.

    Raises
    ------
    UsageError
        For an unknown tokenizer or chat template, or text with the option of incremental rows.
    """
    reader = _Reader(path, options)

    def take_list(lines: list[_Line], _: int) -> Problem | None:
        for number, line in enumerate(lines, start=1):
            problem = reader.take(line, number)
            if problem is not None:
                field, what = problem
                reader.rows.refuse(DataError(str(path), what, line=number, field=field))
        return None

    if read_start(path, 64).lstrip()[:1] == b"[":
        read_json_documents(path, reader.rows, list[_Line], take_list)
    else:
        read_json_lines(path, reader.rows, _Line, reader.take)
    return reader.finish(path)


def matches(head: Head) -> bool:
    """Return whether a line or list has a timestamp and its requests."""
    for names in (("timestamp", "requests"), ("Timestamp", "Requests")):
        if head.has(*names) or (head.text.lstrip()[:1] == b"[" and head.mentions(*names)):
            return not head.has("block_size")
    return False


AIBRIX = TraceFormat(
    name="aibrix",
    title="AIBrix workloads, JSON lines or a list: milliseconds, requests as text or lengths",
    read=read,
    matches=matches,
    options=frozenset({"time_unit", "rows", "tokenizer", "template"}),
)

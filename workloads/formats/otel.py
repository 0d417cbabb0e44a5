"""OpenTelemetry traces of language model calls: dates, token counts, and messages.

Source: OpenTelemetry's semantic conventions for generative AI and OTLP/JSON; the traces of
kubernetes-sigs/inference-perf. A file is one JSON document or has one on each line, as the
collector's file exporter writes it; the spans of one trace may be spread over several. Supported
shapes are described in `workloads.formats.parts` (`otel_documents`, `otel_spans`), attribute names
in `otel_messages` and `otel_calls`.

- The file is read twice. The first pass (`otel_survey`) finds the spans that only sum up the calls
  below them (`otel_tree`), what cached tokens mean (`workloads.sessions.cached_tokens`), and the
  start of the first call.
- A call is a span with messages or token counts and no call below it. Summing spans, embeddings and
  copies of spans are left out and noted; other spans are ignored.
- If the first call has messages, all prompts are rendered from messages with the chat template of
  `workloads.text`; a call without any is left out and noted. The server's token counts are then
  only used to note differences of over a tenth, and as the length of a missing answer.
- Otherwise only lengths are known: prompts share the part that the server's cache held, where the
  spans report it (`workloads.sessions.cached_calls`), else nothing.
- A session is `gen_ai.conversation.id`, else `session.id`, else the trace. Rows are
  cumulative. Labels are models.
- Failed calls are kept and noted. A prompt of no token is left out and noted.
- Times are exact to a nanosecond. Where the file is one document, a line number in a message is the
  number of the span.
"""

from __future__ import annotations

from pathlib import Path

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.formats.parts.otel_calls import (
    ANSWER_TOKENS,
    PROMPT_TOKENS,
    READ_TOKENS,
    SpanCall,
    call_of,
)
from workloads.formats.parts.otel_messages import INPUT
from workloads.formats.parts.otel_spans import SpanError
from workloads.formats.parts.otel_survey import Broken, SeenSpan, SpanSurvey, read_spans
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import (
    MISSING,
    Problem,
    output_problem,
    presence_problem,
)
from workloads.reading.folders import first_head
from workloads.reading.json_lines import among, no_json
from workloads.reading.json_stream import SUFFIXES
from workloads.reading.nanoseconds import NANOSECONDS
from workloads.rows import Rows
from workloads.sessions.cached_calls import CachedCall, CachedCalls
from workloads.sessions.cached_tokens import CachedMeaning
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest, length_problem
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError

FIELDS = Fields(PROMPT_TOKENS[0], ANSWER_TOKENS[0], "start_time")
OTHER_LENGTH = 0.1  # a logged length that differs by a larger share is noted


class _Reader:
    """Reader of a file or folder, which collects its rows."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.rows = Rows(BlockKeys(1), options.on_bad_line, NANOSECONDS)
        self.survey = SpanSurvey(CachedMeaning(options.cached_tokens))
        self.calls = 0
        self.texts: TextRows | None = None
        self.lengths = LengthRows.into(self.rows, FIELDS, incremental=False)
        self.partly: list[CachedCall] = []

    def read(self) -> Rows:
        """Return the rows, with notes on how their tokens were counted."""
        self.survey.look(self.path)
        for seen in read_spans(self.path, self.rows):
            problem = seen.problem if isinstance(seen, Broken) else self._take(seen)
            if problem is not None:
                if isinstance(seen, Broken):
                    problem = no_json(seen.text) or among(problem, seen.text) or problem
                field, what = problem
                self.rows.refuse(DataError(str(seen.file), what, line=seen.line, field=field))
        if not self.calls and self.rows.first_bad is None:
            raise DataError(str(self.path), "expected calls of language models, found none")
        if self.texts is not None:
            self.texts.finish()
            return self.rows
        if self.survey.held:
            CachedCalls.into(self.rows).place(self.partly)
        self.survey.cached.tell(self.rows)
        return self.rows

    def _take(self, seen: SeenSpan) -> Problem | None:
        left_out = self.survey.left_out(seen)
        if left_out is not None:
            self.rows.note(left_out[0], seen.line, left_out[1])
        if left_out is not None or not seen.known.asks:
            return None
        try:
            call = call_of(seen.span, seen.known)
            ticks = self._ticks(seen)
        except SpanError as error:
            return error.problem
        problem = self._add(call, ticks, seen)
        if problem is None and call.failed:
            self.rows.note("failure", seen.line, "a call that failed: kept")
        return problem

    def _ticks(self, seen: SeenSpan) -> int | None:
        field, time = seen.span.start()
        try:
            return None if time is None else self.survey.clock.ticks(time)
        except ValueError as error:
            raise SpanError((field, str(error))) from None

    def _add(self, call: SpanCall, ticks: int | None, seen: SeenSpan) -> Problem | None:
        if not self.calls and call.messages is not None:
            self.texts = TextRows.into(self.rows, self.options)
        self.calls += 1
        self.rows.isolation.look_within(seen.line, call.key)
        self.rows.unused.add([f"attributes.{name}" for name in call.unused], seen.line, "calls")
        if self.texts is not None:
            return self._add_text(self.texts, call, ticks, seen)
        if call.counted is None:
            return PROMPT_TOKENS[0], MISSING
        problem = length_problem(PROMPT_TOKENS[0], call.counted.input_tokens)
        if problem is not None:
            return problem
        prompt_tokens, held = self.survey.cached.prompt(seen.known.group, call.counted)
        if self.survey.held:
            return self._add_partly(call, ticks, seen, prompt_tokens, held)
        counts = prompt_tokens, call.answer_tokens or 0
        return self.lengths.take(SizedRequest(*counts, ticks, call.session, call.model), seen.line)

    def _add_text(
        self, texts: TextRows, call: SpanCall, ticks: int | None, seen: SeenSpan
    ) -> Problem | None:
        if call.messages is None:
            self.rows.note("no-messages", seen.line, "a call without messages: left out")
            return None
        try:
            prompt, answer = texts.chat(seen.line, call.messages, call.tools, call.answer)
        except RenderError as error:
            return INPUT, str(error)
        request = TextRequest(
            line=seen.line,
            prompt=prompt,
            answer=answer,
            output_tokens=call.answer_tokens or 0,
            time=ticks,
            time_field="start_time",
            session=call.session,
            label=call.model,
        )
        problem = output_problem(ANSWER_TOKENS[0], request.output_tokens) or texts.add(request)
        if problem is None and call.counted is not None:
            logged, _ = self.survey.cached.prompt(seen.known.group, call.counted)
            if abs(logged - len(prompt)) > OTHER_LENGTH * len(prompt):
                detail = "the server's token count is over 10 % from the tokens counted here"
                self.rows.note("other-length", seen.line, detail)
        return problem

    def _add_partly(
        self, call: SpanCall, ticks: int | None, seen: SeenSpan, prompt_tokens: int, held: int
    ) -> Problem | None:
        """Add a call of which only lengths and the cached part of the prompt are known."""
        made = CachedCall(
            line=seen.line,
            ticks=ticks,
            prompt_tokens=prompt_tokens,
            cached_tokens=held,
            output_tokens=call.answer_tokens or 0,
            session=call.session,
            model=call.model,
            kin=seen.known.group,
            key=call.key,
        )
        timed = bool(self.partly) and self.partly[0].ticks is not None
        problem = made.problem(PROMPT_TOKENS[0], READ_TOKENS[0], ANSWER_TOKENS[0])
        problem = problem or presence_problem(
            FIELDS.time, ticks, first=not self.partly, timed=timed
        )
        if problem is None:
            self.partly.append(made)
        return problem


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file, or the files in a folder.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    return _Reader(path, options).read()


def matches(head: Head) -> bool:
    """Return whether there are spans with attributes, in the file or in a folder's first file."""
    if head.names:
        first = first_head(head.path, SUFFIXES)
        return first is not None and matches(first)
    if head.text[:1] == b"[" or head.has("data"):
        return _is_span(head)
    documents = "spans", "resourceSpans", "batches"
    if any(head.has(name) for name in documents) and head.mentions("attributes"):
        return True
    if head.has("resourceMetrics") or head.has(
        "resourceLogs"
    ):  # a collector writes these on other lines
        return head.mentions("resourceSpans", "attributes")
    return _is_span(head) and (head.has("attributes") or head.has("tags"))


def _is_span(head: Head) -> bool:
    """Return whether there are spans of any shape with attributes of generative AI."""
    named = any(head.mentions(name) for name in ("trace_id", "traceId", "traceID"))
    return named and any(word in head.text for word in (b'"gen_ai.', b'"llm.', b'"ai.'))


OTEL = TraceFormat(
    name="otel",
    title="OpenTelemetry JSON: dates, token counts and messages of language model calls",
    read=read,
    matches=matches,
    options=frozenset({"tokenizer", "template", "cached_tokens"}),
    not_needed={
        "trace_id": "that of each span counts",
        "span_count": "spans are counted here",
        "collected_at": "when the file was written",
        "resource.attributes.telemetry.sdk.language": "of the library that wrote the spans",
        "resource.attributes.telemetry.sdk.name": "the library that wrote the spans",
        "resource.attributes.telemetry.sdk.version": "of the library that wrote the spans",
    },
)

"""OpenTelemetry traces of language model calls: dates, token counts, and messages.

Source: the semantic conventions for generative AI and OTLP/JSON of OpenTelemetry; the traces of
kubernetes-sigs/inference-perf. A file is one JSON document; `workloads.formats.parts.otel_spans`
says which shapes and attributes are known.

- A call is a span with `gen_ai.input.messages` or token counts; other spans are left out.
- Where the first call has messages, they become tokens by the chat template of `workloads.text`;
  a call without any is left out and noted. Token counts of the server then only serve to note
  where they differ from ours by over a tenth, and as the length of an answer that is missing.
- Where it has none, only lengths are known, and prompts share nothing.
- A session is `gen_ai.conversation.id`, else the trace. Rows are cumulative. Labels are models.
- Failed calls are kept and noted. A prompt of no token is left out and noted.
- For lines in messages, read the number of the span in the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from simulator.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.formats.parts.otel_spans import (
    ANSWER_TOKENS,
    PROMPT_TOKENS,
    Call,
    Document,
    Span,
    SpanError,
    call_of,
)
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys, TokenLists
from workloads.reading.fields import MISSING, Problem, output_problem
from workloads.reading.json_document import read_json_documents
from workloads.reading.json_lines import explain
from workloads.reading.times import TICKS_PER_SECOND, DateClock
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, Request
from workloads.text import tokenizer_for
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError

FIELDS = Fields(PROMPT_TOKENS[0], ANSWER_TOKENS[0], "start_time")
OTHER_LENGTH = 0.1  # beyond this, a length that the server logged is noted


class _Reader:
    """The rows of a file while it is read."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.rows = Rows(BlockKeys(1), options.on_bad_line, TICKS_PER_SECOND)
        self.clock = DateClock()
        self.spans = 0
        self.calls = 0
        self.texts: TextRows | None = None
        self.lengths = LengthRows.into(self.rows, FIELDS, incremental=False)

    def take(self, document: Document, _: int) -> Problem | None:
        """Add the calls of a document; a span that cannot be used is a bad line."""
        if document.spans is None and document.resources is None:
            return "spans", MISSING
        decode = msgspec.json.Decoder(Span).decode
        for raw in document.all_spans():
            self.spans += 1
            problem = self._take_span(raw, decode)
            if problem is not None:
                field, what = problem
                self.rows.refuse(DataError(str(self.path), what, line=self.spans, field=field))
        return None

    def _take_span(self, raw: msgspec.Raw, decode: Callable[[msgspec.Raw], Span]) -> Problem | None:
        try:
            call = call_of(decode(raw))
        except SpanError as error:
            return error.problem
        except msgspec.ValidationError as error:
            return explain(str(error))
        return None if call is None else self._add(call)

    def _add(self, call: Call) -> Problem | None:
        if not self.calls:
            self._decide(with_messages=call.messages is not None)
        self.calls += 1
        if self.texts is not None:
            problem = self._add_text(self.texts, call)
        else:
            problem = self._add_lengths(self.lengths, call)
        if problem is None and call.failed:
            self.rows.note("failure", self.spans, "a call that failed: kept")
        return problem

    def _decide(self, *, with_messages: bool) -> None:
        """Take what the first call has for what all have."""
        if with_messages:
            prompts = TokenLists()
            self.rows.prompts = prompts
            tokenizer = tokenizer_for(self.options.tokenizer)
            self.texts = TextRows(self.rows, prompts, tokenizer, self.options, self.clock)

    def _add_text(self, texts: TextRows, call: Call) -> Problem | None:
        if call.messages is None:
            self.rows.note("no-messages", self.spans, "a call without messages: left out")
            return None
        try:
            prompt, answer = texts.chat(self.spans, call.messages, answer=call.answer)
        except RenderError as error:
            return "gen_ai.input.messages", str(error)
        request = TextRequest(
            line=self.spans,
            prompt=prompt,
            answer=answer,
            output_tokens=call.answer_tokens or 0,
            time=call.date,
            time_field="start_time",
            session=call.session,
            label=call.model,
        )
        problem = output_problem(ANSWER_TOKENS[0], request.output_tokens) or texts.add(request)
        logged = len(prompt) if call.prompt_tokens is None else call.prompt_tokens
        if problem is None and abs(logged - len(prompt)) > OTHER_LENGTH * len(prompt):
            detail = "the server's token count is over 10 % from the tokens counted here"
            self.rows.note("other-length", self.spans, detail)
        return problem

    def _add_lengths(self, lengths: LengthRows, call: Call) -> Problem | None:
        if call.prompt_tokens is None:
            return PROMPT_TOKENS[0], MISSING
        try:
            ticks = None if call.date is None else self.clock.ticks(call.date)
        except ValueError as error:
            return "start_time", str(error)
        counts = call.prompt_tokens, call.answer_tokens or 0
        return lengths.take(Request(*counts, ticks, call.session, call.model), self.spans)

    def finish(self) -> Rows:
        """Return the rows, with notes on what their tokens are."""
        if not self.calls and self.rows.first_bad is None:
            raise DataError(str(self.path), "expected calls of language models, found none")
        if self.texts is not None:
            self.texts.finish()
        return self.rows


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    reader = _Reader(path, options)
    read_json_documents(path, reader.rows, Document, reader.take)
    return reader.finish()


def matches(head: Head) -> bool:
    """Recognise spans that have attributes."""
    return head.mentions("attributes") and (head.has("spans") or head.has("resourceSpans"))


OTEL = TraceFormat(
    name="otel",
    title="OpenTelemetry JSON: dates, token counts and messages of language model calls",
    read=read,
    matches=matches,
    options=frozenset({"tokenizer", "template"}),
)

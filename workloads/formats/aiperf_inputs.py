"""The `inputs.json` of an AIPerf or GenAI-Perf run: request bodies by session.

Source: ai-dynamo/aiperf (`data`, each with `session_id` and `payloads`) and GenAI-Perf (each with
`payload`, a list of one, and no session).

- A body has `messages`, which are rendered with the chat template of `workloads.text`, or a
  `prompt`, used as it is. Bodies hold the whole context: rows are cumulative.
- The output length is the one requested: `max_completion_tokens`, `max_tokens` or `min_tokens`.
  The answers themselves are not in the file.
- There are no times. Labels are models. A prompt of no token is left out and noted.
- A line number in a message is the number of the body in the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem, output_problem
from workloads.reading.json_document import read_json_documents
from workloads.rows import Rows
from workloads.text.chat_template import Message
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError

Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Body(msgspec.Struct, gc=False):
    messages: list[Message] | None = None
    tools: list[Any] | None = None
    prompt: str | None = None
    model: Name | None = None
    cache_salt: str | None = None
    lora_name: Name | None = None
    lora_path: Name | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    min_tokens: int | None = None

    def output_tokens(self) -> int:
        """Return how many tokens were requested, 0 if no field says so."""
        asked = self.max_completion_tokens, self.max_tokens, self.min_tokens
        return next((tokens for tokens in asked if tokens is not None), 0)

    def key(self) -> dict[str, str | None]:
        """Return the isolation key of the prompt: prompts with different keys share no prefix."""
        names = ("model", "cache_salt", "lora_name", "lora_path")
        return {name: getattr(self, name) for name in names}


class _Session(msgspec.Struct, gc=False):
    session_id: Name | None = None
    payloads: list[_Body] = []
    payload: list[_Body] = []


class _Document(msgspec.Struct, gc=False):
    data: list[_Session]


class _Reader:
    """Reader of one file, which collects its rows."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.texts = TextRows.of(options)
        self.encode = self.texts.tokenizer.encode
        self.bodies = 0

    def take(self, document: _Document, _: int) -> Problem | None:
        """Add the request bodies of a document; one that cannot be used is a bad line."""
        for session in document.data:
            for body in session.payloads or session.payload:
                self.bodies += 1
                problem = self._add(session.session_id, body)
                if problem is not None:
                    error = DataError(
                        str(self.path), problem[1], line=self.bodies, field=problem[0]
                    )
                    self.texts.rows.refuse(error)
        return None

    def _add(self, session: str | None, body: _Body) -> Problem | None:
        if body.messages is not None:
            try:
                prompt, _ = self.texts.chat(self.bodies, body.messages, body.tools or [])
            except RenderError as error:
                return "messages", str(error)
        elif body.prompt is not None:
            prompt = self.encode(body.prompt)
        else:
            return "messages", "expected messages or a prompt, found none"
        output = body.output_tokens()
        self.texts.rows.isolation.look(self.bodies, body.key())
        return output_problem("max_tokens", output) or self.texts.add(
            TextRequest(
                self.bodies, prompt, output_tokens=output, session=session, label=body.model
            )
        )


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    reader = _Reader(path, options)
    rows = read_json_documents(path, reader.texts.rows, _Document, reader.take)
    if not reader.bodies and rows.first_bad is None:
        raise DataError(str(path), "expected request bodies, found none")
    return reader.texts.finish()


def matches(head: Head) -> bool:
    """Return whether the document is a list of sessions with request bodies."""
    return head.has("data") and (head.mentions("payloads") or head.mentions("payload"))


AIPERF_INPUTS = TraceFormat(
    name="aiperf-inputs",
    title="inputs.json of AIPerf or GenAI-Perf: request bodies by session, no times",
    read=read,
    matches=matches,
    options=frozenset({"tokenizer", "template"}),
)

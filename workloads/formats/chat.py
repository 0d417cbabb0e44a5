"""Chat logs in JSON lines: OpenAI-style `messages`, and the answers where they are logged.

Source: the request and response bodies of OpenAI's chat completions, alone or as logs wrap them:
`messages` stand on the line, in its `body` (OpenAI's batch files) or in its `request`.

- Messages become tokens by the chat template of `workloads.text.chat_template`, ChatML.
- The answer is that of `response` (text, a message or a whole response body), of `choices` on
  the line, or the last message where that is the assistant's. Without any the output counts what
  `usage.completion_tokens` says, or 0.
- Rows are cumulative: messages are the whole context. Incremental ones go on from the session's
  row before and its answer.
- A session is what `session_id`, `conversation_id`, `chat_id` or `thread_id` names. Where there
  is none it is unknown; `user` names no session.
- Times are `timestamp`, `created_at` or `created`, seconds where nothing else is said, or dates.
- A label is `label` or `type`, else the name of the model.
- Failures and other lines without messages are bad lines; without any text, they are left out.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem, output_problem
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.sessions.cached_tokens import CachedMeaning
from workloads.text.chat_log import Exchange, LogLine, exchange
from workloads.text.chat_template import GENERATION_PROMPT, NAME, answer_text, is_text, turns
from workloads.text.requests import TextRequest, TextRows
from workloads.text.tokenizer import Tokens

OTHER_LENGTH = 0.1  # beyond this, a length that the server logged is noted

Session = str | int | None


class _Reader:
    """The rows of a file while it is read."""

    def __init__(self, options: ReadOptions) -> None:
        self.texts = TextRows.of(options)
        self.rows = self.texts.rows
        self.encode = self.texts.tokenizer.encode
        self.incremental = options.rows == "incremental"
        self.context: defaultdict[Session, list[Tokens]] = defaultdict(list)
        self.most_messages: defaultdict[Session, int] = defaultdict(int)
        self.cached = CachedMeaning(options.cached_tokens)

    def take(self, line: LogLine, number: int) -> Problem | None:
        """Add the request of a line, or say what is wrong with it."""
        said = exchange(line)
        if not said.messages:
            return "messages", "expected a list of messages, found none to be answered"
        if self.incremental and said.session is None:
            return "session_id", "expected the session of an incremental row, found none"
        field, output = said.usage.answer()
        problem = output_problem(field, output)
        if problem is not None:
            return problem
        context = self._context(said)
        prompt = np.concatenate([*context, self.encode(GENERATION_PROMPT)])
        answer = None if said.answer is None else self.encode(answer_text(said.answer))
        of_line = (number, prompt, answer, output)
        problem = self.texts.add(
            TextRequest(*of_line, said.time, said.time_field, said.session, said.label)
        )
        if problem is None:
            self._keep(said, context)
            self._note(said, len(prompt), number)
        return problem

    def _context(self, said: Exchange) -> list[Tokens]:
        """Return the tokens of the prompt, in parts, up to the assistant's turn."""
        new = [self.encode(turn) for turn in turns(said.messages, said.tools)]
        return self.context[said.session] + new if self.incremental else new

    def _keep(self, said: Exchange, context: list[Tokens]) -> None:
        """Remember the context of a session to which rows add."""
        if self.incremental:
            answers = [] if said.answer is None else [said.answer]
            self.context[said.session] = [*context, *map(self.encode, turns(answers))]

    def _note(self, said: Exchange, tokens: int, number: int) -> None:
        """Note what is odd about a row."""
        note = self.rows.note
        if said.session is not None and not self.incremental:
            most = self.most_messages[said.session]
            if len(said.messages) < most:
                detail = "fewer messages than before in the session: rewritten, or incremental rows"
                note("shorter-context", number, detail)
            self.most_messages[said.session] = max(most, len(said.messages))
        parts = (m.content for m in said.messages if isinstance(m.content, list))
        if not all(is_text(part) for content in parts for part in content):
            note("not-text", number, "images and other parts count as a short mark each")
        logged = said.usage.whole_prompt(self.cached, said.model, number)
        if logged is not None and abs(logged - tokens) > OTHER_LENGTH * tokens:
            detail = "usage.prompt_tokens is over 10 % from the tokens counted here"
            note("other-length", number, detail)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    reader = _Reader(options)
    read_json_lines(path, reader.rows, LogLine, reader.take)
    rows = reader.texts.finish()
    rows.facts.append(f"the chat template is {NAME}; prompts end with the assistant's turn begun")
    return rows


def matches(head: Head) -> bool:
    """Recognise messages that have roles, on the line or in its body."""
    return head.mentions("messages", "role", "content") and (
        head.record is None or any(head.has(field) for field in ("messages", "body", "request"))
    )


CHAT = TraceFormat(
    name="chat",
    title="chat logs in JSON lines: OpenAI-style messages, answers where known, seconds or dates",
    read=read,
    matches=matches,
    options=frozenset({"rows", "time_unit", "tokenizer", "cached_tokens"}),
    not_needed={
        "id": "requests are told apart by their line",
        "*.response.id": "requests are told apart by their line",
        "*.object": "the kind of OpenAI's object",
        "*.tool_calls[].id": "ties a call to its result, which follow each other",
        "*.tool_calls[].type": "OpenAI has one kind only",
        "*.tool_call_id": "ties a result to its call, which follow each other",
        "*.choices[].index": "the first choice counts",
        "*.choices[].finish_reason": "an answer is as long as it is",
        "*.usage.total_tokens": "the sum of the other two",
    },
)

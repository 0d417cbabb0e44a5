"""Chat logs in JSON lines: OpenAI-style `messages`, and the answers where they are logged.

Source: the request and response bodies of OpenAI's chat completions, alone or wrapped by logs:
`messages` are on the line, in its `body` (OpenAI's batch files) or in its `request`. Also rows of
`messages` for fine-tuning.

- Messages become tokens by a chat template, see `workloads.text.templates`.
- The answer is taken from `response` (text, a message or a whole response body), from `choices` on
  the line, or from the last message where that is the assistant's. Without any, the output length
  is `usage.completion_tokens`, or 0.
- Rows are cumulative by default: messages are the whole context. Incremental rows continue the
  session's previous row and its answer. Where the rows look like whole conversations
  (`workloads.text.row_kinds`), each answer is a request (`workloads.text.conversations`).
- A session is named by `session_id`, `conversation_id`, `chat_id` or `thread_id`, not by `user`;
  without any it is unknown. A whole conversation is a session.
- Times are `timestamp`, `created_at` or `created`: seconds by default, or dates.
- A label is `label` or `type`, else the name of the model.
- Failures and other lines without messages are bad lines; messages without text are left out.
- An unknown role is read as the user's, and noted.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from simulator.base.errors import DataError, printable
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions, RowsAre
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.fields import Problem, output_problem
from workloads.reading.json_records import read_json_records
from workloads.rows import Rows
from workloads.sessions.cached_tokens import CachedMeaning
from workloads.text.any_message import AnyMessage
from workloads.text.chat_log import Exchange, LogLine, exchange
from workloads.text.chat_template import Message, is_text
from workloads.text.conversations import Conversations
from workloads.text.requests import TextRequest, TextRows
from workloads.text.row_kinds import Glance, RowSurvey
from workloads.text.templates import RenderError

OPTIONS = frozenset({"rows", "time_unit", "tokenizer", "template", "cached_tokens"})
FIELDS = frozenset(LogLine.__struct_encode_fields__)
NOT_NEEDED = {
    "id": "requests are told apart by their line",
    "*.response.id": "requests are told apart by their line",
    "*.object": "the kind of OpenAI's object",
    "*.tool_calls[].id": "ties a call to its result, which follow each other",
    "*.tool_calls[].type": "OpenAI has one kind only",
    "*.tool_call_id": "ties a result to its call, which follow each other",
    "*.choices[].index": "the first choice counts",
    "*.choices[].finish_reason": "an answer is as long as it is",
    "*.usage.total_tokens": "the sum of the other two",
    "*.usageMetadata.totalTokenCount": "the sum of the others",
}
OTHER_LENGTH = 0.1  # a logged length that differs by a larger share is noted

Session = str | int | None


class _Reader:
    """Reader of one file, which collects its rows."""

    def __init__(self, options: ReadOptions, rows_are: RowsAre) -> None:
        self.texts = TextRows.of(options)
        self.stated = options.rows is not None
        self.rows = self.texts.rows
        self.rows_are = rows_are
        self.conversations = Conversations(self.texts)
        self.context: defaultdict[Session, list[Message]] = defaultdict(list)
        self.most_messages: defaultdict[Session, int] = defaultdict(int)
        self.whole = 0
        self.cached = CachedMeaning(options.cached_tokens)

    def take(self, line: LogLine | list[AnyMessage], number: int) -> Problem | None:
        """Add the requests of a line, or return what is wrong with it."""
        row = exchange(line)
        if not isinstance(row, Exchange):
            return row
        if self.rows_are == "conversation" or (row.whole and not self.stated):
            problem = self._take_conversation(line, row, number)
        else:
            problem = self._take_request(row, number)
        if problem is None:
            self._note(row, number)
            if isinstance(line, LogLine):
                self.rows.unused.add(line.other_times(row.time_field), number)
        return problem

    def _take_conversation(self, line: Any, row: Exchange, number: int) -> Problem | None:
        if not row.messages and not row.whole and line.messages is None:
            return "messages", "expected a list of messages, found none"
        self.whole += 1
        return self.conversations.take(row, number)

    def _take_request(self, row: Exchange, number: int) -> Problem | None:
        messages, answer = _split(row)
        if not messages:
            return "messages", "expected a list of messages, found none to be answered"
        incremental = self.rows_are == "incremental"
        if incremental and row.session is None:
            return "session_id", "expected the session of an incremental row, found none"
        field, output = row.usage.answer()
        problem = output_problem(field, output)
        if problem is not None:
            return problem
        context = [*self.context[row.session], *messages] if incremental else messages
        try:
            prompt, tokens = self.texts.chat(number, context, row.tools, answer)
        except RenderError as error:
            return row.field, str(error)
        of_line = (number, prompt, tokens, output)
        problem = self.texts.add(
            TextRequest(*of_line, row.time, row.time_field, row.session, row.label)
        )
        if problem is not None:
            return self._with_delay(row, problem)
        if incremental:
            self.context[row.session] = [*context, *([] if answer is None else [answer])]
        self._note_length(row, len(messages), len(prompt), number)
        return None

    def _with_delay(self, row: Exchange, problem: Problem) -> Problem:
        """Extend the message on a missing time where the file has a delay, which is not read."""
        if row.time is not None or "delay" not in self.rows.unused.counts:
            return problem
        return problem[0], f"{problem[1]} (rows of chats do not read `delay`)"

    def _note_length(self, row: Exchange, messages: int, tokens: int, number: int) -> None:
        """Note anomalies in the length of a prompt."""
        if row.session is not None and self.rows_are == "cumulative":
            most = self.most_messages[row.session]
            if messages < most:
                detail = "fewer messages than before in the session: rewritten, or incremental rows"
                self.rows.note("shorter-context", number, detail)
            self.most_messages[row.session] = max(most, messages)
        logged = row.usage.whole_prompt(self.cached, row.model, number)
        if logged is not None and abs(logged - tokens) > OTHER_LENGTH * tokens:
            field = f"{row.usage_field}.{row.usage.prompt_field()}"
            detail = f"{field} is over 10 % from the tokens counted here"
            self.rows.note("other-length", number, detail)

    def _note(self, row: Exchange, number: int) -> None:
        """Note anomalies in the messages of a row."""
        note = self.rows.note
        if row.unknown_role is not None:
            shown = printable(row.unknown_role, 40)
            note("unknown-role", number, f"such as '{shown}': taken as the user's")
        parts = (m.content for m in row.messages if isinstance(m.content, list))
        if not all(is_text(part) for content in parts for part in content):
            note("not-text", number, "images and other parts count as a short mark each")

    def finish(self) -> Rows:
        """Return the rows, with notes on how they were read."""
        self.conversations.finish()
        rows = self.texts.finish()
        if self.whole:
            rows.facts.append(
                f"{self.whole:,} rows hold whole conversations: each answer in them is a request, "
                "and each conversation a session"
                + ("" if self.stated else " (--rows cumulative: each row a request)")
            )
        return rows


def _split(row: Exchange) -> tuple[list[Message], Message | None]:
    """Return the messages of the prompt, and the answer where it is known."""
    if row.answer is None and row.messages and row.messages[-1].role == "assistant":
        return row.messages[:-1], row.messages[-1]
    return row.messages, row.answer


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer or template.
    """
    survey = RowSurvey() if options.rows else _survey(path)
    reader = _Reader(options, options.rows or survey.rows_are())
    rows = read_json_records(path, reader.rows, LogLine | list[AnyMessage], reader.take, FIELDS)
    if reader.whole and not len(rows) and rows.first_bad is None:
        raise DataError(str(path), "expected conversations in which somebody answers, found none")
    if survey.several and survey.rows_are() == "cumulative":
        rows.facts.append(
            "rows of messages are requests with their whole context (--rows conversation: each "
            "answer in them is a request)"
        )
    return reader.finish()


def _survey(path: Path) -> RowSurvey:
    """Survey all rows to tell requests from conversations; a later pass reports errors."""
    survey = RowSurvey()
    passed_over = Rows(BlockKeys(1), "skip")

    def see(row: Any, _: int) -> None:
        if isinstance(row, Glance):
            survey.see(row)

    try:
        read_json_records(path, passed_over, Glance | list[Any], see, FIELDS)
    except DataError:
        return RowSurvey()
    return survey


def matches(head: Head) -> bool:
    """Return whether there are messages with roles, on the line or in its body."""
    return head.mentions("messages", "role", "content") and (
        head.record is None or any(head.has(field) for field in ("messages", "body", "request"))
    )


CHAT = TraceFormat(
    name="chat",
    title="chat logs in JSON lines: OpenAI-style messages, answers where known, seconds or dates",
    read=read,
    matches=matches,
    options=OPTIONS,
    not_needed=NOT_NEEDED,
)

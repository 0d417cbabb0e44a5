"""Lines of Claude Code's transcripts, and the calls that several lines make up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from workloads.reading.fields import Problem, output_problem
from workloads.reading.json_stream import decoded
from workloads.sessions.cached_tokens import CountedTokens

Name = Annotated[str, msgspec.Meta(max_length=200)]

SYNTHETIC = "<synthetic>"  # model name of messages written by the program itself


class Line(msgspec.Struct, gc=False):
    """A line of a transcript; lines other than the assistant's only give the order of lines."""

    type: Name
    uuid: Name | None = None
    parentUuid: Name | None = None  # noqa: N815  (as Claude Code writes it)
    sessionId: Name | None = None  # noqa: N815
    agentId: Name | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    requestId: Name | None = None  # noqa: N815
    timestamp: str | None = None
    message: msgspec.Raw = msgspec.Raw()


class _Created(msgspec.Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ClaudeUsage(msgspec.Struct, gc=False):
    """Token counts as Anthropic reports them: a prompt is the sum of its three counts."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: _Created | None = None

    def counted(self) -> CountedTokens:
        """Return the token counts of the prompt."""
        parts = self.cache_creation or _Created()
        halves = (parts.ephemeral_5m_input_tokens or 0) + (parts.ephemeral_1h_input_tokens or 0)
        created = self.cache_creation_input_tokens
        return CountedTokens(
            self.input_tokens or 0,
            self.cache_read_input_tokens or 0,
            halves if created is None else created,
        )

    def problem(self) -> Problem | None:
        """Return the first problem with the counts, or None."""
        counts = {
            "output_tokens": self.output_tokens,
            "input_tokens": self.input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "cache_creation_input_tokens": self.counted().created_tokens,
        }
        problems = (output_problem(f"message.usage.{k}", n or 0) for k, n in counts.items())
        return next((problem for problem in problems if problem is not None), None)

    def weight(self) -> tuple[int, int]:
        """Return a sort key by which the final usage of a message is the largest."""
        counted = self.counted()
        return self.output_tokens or 0, counted.input_tokens + counted.cached_tokens


class ClaudeMessage(msgspec.Struct, gc=False):
    """The message of an assistant's line; its content is not read."""

    id: Name | None = None
    model: Name | None = None
    usage: ClaudeUsage | None = None


_decode_message = msgspec.json.Decoder(ClaudeMessage).decode


def message_of(line: Line) -> tuple[ClaudeMessage, None] | tuple[None, Problem]:
    """Return the message of an assistant's line, or what is wrong with it."""
    if not bytes(line.message):
        return None, ("message", "expected the assistant's message, found none")
    message, problem = decoded(_decode_message, line.message)
    if message is None:
        field, what = problem or (None, "expected a message")
        return None, ("message" if field is None else f"message.{field}", what)
    problem = None if message.usage is None else message.usage.problem()
    return (message, None) if problem is None else (None, problem)


@dataclass(slots=True, eq=False)
class ClaudeCall:
    """A call: one message of the assistant, whose content blocks have a line each.

    `chain` names the context that it continues: a session, or an agent within one. `nanoseconds` is
    the time of its first line, and `parent` the line before that.
    """

    file: Path
    line: int
    chain: str
    sidechain: bool
    message_id: str | None
    request_id: str | None
    model: str | None
    parent: str | None
    nanoseconds: int | None
    usage: ClaudeUsage | None = None

    def take(self, usage: ClaudeUsage | None) -> None:
        """Keep the largest usage: that on earlier lines may be of an unfinished answer."""
        if usage is not None and (self.usage is None or usage.weight() >= self.usage.weight()):
            self.usage = usage

    def is_copy_of(self, other: ClaudeCall) -> bool:
        """Return whether this call repeats the other, in the transcript of a resumed session."""
        one, two = self.request_id, other.request_id
        if one is not None and two is not None and one != two:
            return False
        if one is not None and one == two:
            return True
        same_time = self.nanoseconds is not None and self.nanoseconds == other.nanoseconds
        return same_time or (
            self.usage is not None
            and other.usage is not None
            and self.usage.counted() == other.usage.counted()
        )

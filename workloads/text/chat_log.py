"""Lines of a chat log in OpenAI's words, however a log wraps a request and its response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from workloads.reading.time_fields import Timed
from workloads.reading.times import UNWRITTEN, Written, number_or_date
from workloads.sessions.usage import Usage
from workloads.text.chat_template import Message
from workloads.text.requests import Time

SESSION_FIELDS = ("session_id", "conversation_id", "chat_id", "thread_id")
LABEL_FIELDS = ("label", "type")

Name = Annotated[str, msgspec.Meta(max_length=200)]


class Choice(msgspec.Struct, gc=False):
    """One of the answers to a request."""

    message: Message | None = None


class Body(msgspec.Struct, gc=False):
    """A request or a response, or what wraps one."""

    messages: list[Message] | None = None
    tools: list[Any] | None = None
    model: Name | None = None
    content: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    created: Written = UNWRITTEN
    body: Body | None = None


class LogLine(Timed, gc=False):
    """A line: a request, alone or beside its response."""

    messages: list[Message] | None = None
    tools: list[Any] | None = None
    model: Name | None = None
    body: Body | None = None
    request: Body | None = None
    response: Body | str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    session_id: Name | int | None = None
    conversation_id: Name | int | None = None
    chat_id: Name | int | None = None
    thread_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a line says: the messages of the prompt, and the answer where it is known.

    `time_field` is the name of the field that `time` comes from.
    """

    messages: list[Message]
    tools: list[Any]
    answer: Message | None
    usage: Usage
    session: str | int | None
    label: str | None
    model: str | None
    time: Time | None
    time_field: str


def exchange(line: LogLine) -> Exchange:
    """Return what a line says; no messages where it has none."""
    asked, answered = _request(line), _response(line)
    messages, answer = _split(asked.messages or [], answered)
    time_field, time = line.when()
    model = asked.model or line.model or answered.model
    label = named(line, LABEL_FIELDS)[1]
    return Exchange(
        messages=messages,
        tools=asked.tools or [],
        answer=answer,
        usage=answered.usage or line.usage or Usage(),
        session=named(line, SESSION_FIELDS)[1],
        label=model if label is None else str(label),
        model=model,
        time=number_or_date(answered.created) if time is None else time,
        time_field=time_field,
    )


def named(line: msgspec.Struct, fields: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first of some fields that a line has, and its value; else the first and None."""
    there = ((field, getattr(line, field)) for field in fields)
    return next(((field, value) for field, value in there if value is not None), (fields[0], None))


def _request(line: LogLine) -> Body:
    if line.messages is not None:
        return Body(line.messages, line.tools, line.model)
    found = line.body or line.request or Body()
    return found.body or found


def _response(line: LogLine) -> Body:
    found = line.response
    if isinstance(found, str):
        return Body(content=found)
    if found is None:
        return Body(choices=line.choices)
    return found.body or found


def _split(messages: list[Message], answered: Body) -> tuple[list[Message], Message | None]:
    """Return the messages of the prompt, and the answer where it is known."""
    if answered.choices and answered.choices[0].message is not None:
        return messages, answered.choices[0].message
    if answered.content is not None:
        return messages, Message("assistant", answered.content)
    if messages and messages[-1].role == "assistant":
        return messages[:-1], messages[-1]
    return messages, None

"""Lines of chat logs and chat data sets, which wrap requests or conversations in many ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from workloads.reading.fields import Problem
from workloads.reading.json_lines import explain
from workloads.reading.time_fields import Timed
from workloads.reading.times import UNWRITTEN, Written, number_or_date
from workloads.sessions.usage import Usage
from workloads.text.any_message import AnyMessage
from workloads.text.chat_template import Message
from workloads.text.content_blocks import unfolded
from workloads.text.requests import Time

SESSION_FIELDS = ("session_id", "conversation_id", "chat_id", "thread_id")
LABEL_FIELDS = ("label", "type")
CONVERSATIONS = (
    "conversations",
    "conversation",
    "history",
    "trajectory",
)  # fields of whole conversations
NO_LIST = "expected a list of messages, found text"

_NOTHING = msgspec.Raw(b"null")

Name = Annotated[str, msgspec.Meta(max_length=200)]
Messages = list[AnyMessage]


class AnswerChoice(msgspec.Struct, gc=False):
    """One of the answers to a request."""

    message: Message | None = None


class Body(msgspec.Struct, gc=False):
    """A request or a response, or an object that wraps one."""

    messages: Messages | None = None
    system: Any = None
    tools: list[Any] | str | None = None
    model: Name | None = None
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    tool_calls: list[Any] | None = None
    choices: list[AnswerChoice] | None = None
    usage: Usage | None = None
    usage_metadata: Usage | None = msgspec.field(default=None, name="usageMetadata")
    created: Written = UNWRITTEN
    body: Body | None = None


class NamedLine(Timed, gc=False, kw_only=True):
    """A line with a session, under one of SESSION_FIELDS, and a label, both optional."""

    session_id: Name | int | None = None
    conversation_id: Name | int | None = None
    chat_id: Name | int | None = None
    thread_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


class LogLine(NamedLine, gc=False):
    """A line: a request, possibly with its response, or a whole conversation."""

    messages: Messages | str | None = None
    conversations: msgspec.Raw = _NOTHING  # raw, since other logs use these names for other data
    conversation: msgspec.Raw = _NOTHING
    history: msgspec.Raw = _NOTHING
    trajectory: msgspec.Raw = _NOTHING
    system: Any = None
    tools: list[Any] | str | None = None
    model: Name | None = None
    body: Body | None = None
    request: Body | None = None
    response: Body | str | None = None
    choices: list[AnswerChoice] | None = None
    usage: Usage | None = None
    usage_metadata: Usage | None = msgspec.field(default=None, name="usageMetadata")


@dataclass(frozen=True, slots=True)
class Exchange:
    """The messages of a line, and the answer where it is separate.

    `field`, `time_field` and `usage_field` are the fields that the messages, `time` and `usage`
    come from; `times` are those of the messages. `whole` is whether the field holds whole
    conversations.
    """

    field: str
    messages: list[Message]
    tools: list[Any]
    answer: Message | None
    usage: Usage
    usage_field: str
    session: str | int | None
    label: str | None
    model: str | None
    time: Time | None
    time_field: str
    times: list[Time | None]
    unknown_role: str | None
    whole: bool


def exchange(line: LogLine | Messages) -> Exchange | Problem:
    """Return the messages, answer and metadata of a line, or what is wrong with the line."""
    listed, line = (line, LogLine()) if isinstance(line, list) else (None, line)
    asked, answered = _request(line), _response(line)
    try:
        field, given = ("conversations", listed) if listed is not None else _messages(line, asked)
    except _BadMessagesError as error:
        return error.problem
    problem = _problem(field, given)
    if problem is not None:
        return problem
    timed = [
        (number_or_date(raw.timestamp), message) for raw in given for message in raw.messages()
    ]
    time_field, time = line.when()
    usage_field, usage = _usage(line, answered)
    model = asked.model or line.model or answered.model
    label = named(line, LABEL_FIELDS)[1]
    unknown = next((message.named() for message in given if not message.knows_role()), None)
    return Exchange(
        field=field,
        messages=_with_system(line.system or asked.system, [message for _, message in timed]),
        tools=_tools(asked.tools if asked.tools is not None else line.tools),
        answer=_answer(answered),
        usage=usage,
        usage_field=usage_field,
        session=named(line, SESSION_FIELDS)[1],
        label=model if label is None else str(label),
        model=model,
        time=number_or_date(answered.created) if time is None else time,
        time_field=time_field,
        times=[time for time, _ in timed],
        unknown_role=unknown,
        whole=field in CONVERSATIONS,
    )


def named(line: msgspec.Struct, fields: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first of `fields` that a line has and its value, or the first name and None."""
    there = ((field, getattr(line, field)) for field in fields)
    return next(((field, value) for field, value in there if value is not None), (fields[0], None))


def _request(line: LogLine) -> Body:
    body = line.body or line.request or Body()
    return body.body or body


class _BadMessagesError(ValueError):
    """Raised for messages that cannot be read; carries the problem."""

    def __init__(self, field: str, problem: Problem) -> None:
        super().__init__()
        self.problem = f"{field}{problem[0] or ''}", problem[1]


def _messages(line: LogLine, asked: Body) -> tuple[str, Messages]:
    """Return the field and the messages of a line; JSON in text is decoded."""
    if isinstance(line.messages, str):
        try:
            return "messages", msgspec.json.decode(line.messages, type=Messages)
        except (msgspec.DecodeError, RecursionError):
            raise _BadMessagesError("messages", (None, NO_LIST)) from None
    messages = asked.messages if line.messages is None else line.messages
    if messages is not None:
        return "messages", messages
    raws = ((field, getattr(line, field)) for field in CONVERSATIONS)
    field, raw = next(
        ((field, raw) for field, raw in raws if bytes(raw) != b"null"), ("messages", b"[]")
    )
    try:
        return field, msgspec.json.decode(raw, type=Messages)
    except msgspec.ValidationError as error:
        raise _BadMessagesError(field, explain(str(error))) from None


def _problem(field: str, given: Messages) -> Problem | None:
    for at, message in enumerate(given):
        problem = message.problem()
        if problem is not None:
            return f"{field}[{at}].{problem[0]}", problem[1]
    return None


def _with_system(system: Any, messages: list[Message]) -> list[Message]:
    """Return the messages, preceded by a system prompt that is a separate field."""
    has_system = isinstance(system, str | list) and bool(system)
    if not has_system or not messages or messages[0].role == "system":
        return messages
    return [Message("system", system), *messages]


def _tools(tools: list[Any] | str | None) -> list[Any]:
    if not isinstance(tools, str):
        return tools or []
    try:
        return msgspec.json.decode(tools, type=list[Any])
    except (msgspec.DecodeError, RecursionError):
        return [tools] if tools.strip() else []


def _response(line: LogLine) -> Body:
    response = line.response
    if isinstance(response, str):
        return Body(content=response)
    if response is None:
        return Body(choices=line.choices)
    return response.body or response


def _usage(line: LogLine, answered: Body) -> tuple[str, Usage]:
    """Return the field and the usage of a line; that of the response takes precedence."""
    wrapped = isinstance(line.response, Body) and line.response.body is not None
    around = "response.body." if wrapped else "response."
    places = (
        (f"{around}usage", answered.usage),
        (f"{around}usageMetadata", answered.usage_metadata),
        ("usage", line.usage),
        ("usageMetadata", line.usage_metadata),
    )
    return next(
        ((field, usage) for field, usage in places if usage is not None), ("usage", Usage())
    )


def _answer(answered: Body) -> Message | None:
    """Return the answer, where it is separate from the messages."""
    if answered.choices and answered.choices[0].message is not None:
        return answered.choices[0].message
    if answered.content is None and not answered.tool_calls:
        return None
    names = ("content", "reasoning_content", "tool_calls")
    kept = {name: getattr(answered, name) for name in names}
    try:
        answer = msgspec.convert({"role": "assistant", **kept}, Message)
    except msgspec.ValidationError:
        answer = Message("assistant", answered.content)
    return unfolded(answer)[-1]

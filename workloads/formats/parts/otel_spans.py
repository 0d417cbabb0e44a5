"""Spans of OpenTelemetry in JSON, as calls of language models.

Two shapes are known: a document with `spans` whose attributes are an object (as collectors and
benchmarks write them), and OTLP/JSON, with `resourceSpans` whose attributes are lists of keys and
typed values. Attributes are those of the semantic conventions for generative AI; of those that
have been renamed, both names are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from workloads.reading.fields import Problem
from workloads.reading.json_lines import explain
from workloads.reading.key_fields import place_of
from workloads.text.chat_template import Message

INPUT, OUTPUT, SYSTEM = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
)
PROMPT_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
ANSWER_TOKENS = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")

_USED = {INPUT, OUTPUT, SYSTEM, *PROMPT_TOKENS, *ANSWER_TOKENS, "gen_ai.conversation.id"}
_NS_PER_SECOND = 10**9
_FAILED = {2, "ERROR", "STATUS_CODE_ERROR"}


class Status(msgspec.Struct, gc=False):
    """How a span ended."""

    code: int | str | None = None


class Span(msgspec.Struct, gc=False):
    """A span of either shape."""

    attributes: dict[str, Any] | list[dict[str, Any]] = {}
    trace_id: str | None = None
    otlp_trace_id: str | None = msgspec.field(name="traceId", default=None)
    start_time: str | None = None
    start_nanoseconds: int | str | None = msgspec.field(name="startTimeUnixNano", default=None)
    status: Status | None = None


class _ScopeSpans(msgspec.Struct, gc=False):
    spans: list[msgspec.Raw] = []


class _ResourceSpans(msgspec.Struct, gc=False):
    scopes: list[_ScopeSpans] = msgspec.field(name="scopeSpans", default_factory=list)


class Document(msgspec.Struct, gc=False):
    """A file; its spans are decoded one by one, so that one broken span is one problem."""

    spans: list[msgspec.Raw] | None = None
    resources: list[_ResourceSpans] | None = msgspec.field(name="resourceSpans", default=None)

    def all_spans(self) -> Iterator[msgspec.Raw]:
        """Yield the spans in the order of the file."""
        yield from self.spans or []
        for resource in self.resources or []:
            for scope in resource.scopes:
                yield from scope.spans


class _Said(Message, gc=False):
    """A message whose text may stand in `parts`, as the conventions have it."""

    parts: list[Any] | None = None

    def plain(self) -> Message:
        """Return the message with its parts as content."""
        if self.parts is not None:
            self.content = [_as_text(part) for part in self.parts]
        return self


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a language model.

    `messages` is None where the span does not hold them; token counts are those the server
    logged, None where it did not; `date` is when the span starts. `key` has what belongs to the key
    of the prompt besides its tokens; `unused` are attributes that nobody reads.
    """

    messages: list[Message] | None
    answer: Message | None
    prompt_tokens: int | None
    answer_tokens: int | None
    date: str | None
    session: str | None
    model: str | None
    failed: bool
    key: dict[str, Any]
    unused: list[str]


class SpanError(Exception):
    """A span that cannot be used: the attribute at fault, and what is wrong."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem[1])
        self.problem = problem


def call_of(span: Span) -> Call | None:
    """Return the call that a span stands for, None where it is a span of another kind.

    Raises
    ------
    SpanError
        Where an attribute does not hold what it should.
    """
    found = _attributes(span.attributes)
    if not any(name in found for name in (INPUT, *PROMPT_TOKENS)):
        return None
    answers = _messages(found, OUTPUT)
    messages = _messages(found, INPUT)
    if messages is not None:
        messages = [*(_system(found)), *messages]
    return Call(
        messages=messages,
        answer=answers[0] if answers else None,
        prompt_tokens=_count(found, PROMPT_TOKENS),
        answer_tokens=_count(found, ANSWER_TOKENS),
        date=_date(span),
        session=_text(found, "gen_ai.conversation.id") or span.trace_id or span.otlp_trace_id,
        model=_text(found, "gen_ai.request.model"),
        failed=span.status is not None and span.status.code in _FAILED,
        key={name: value for name, value in found.items() if place_of(name) is not None},
        unused=[name for name in found if name not in _USED and place_of(name) is None],
    )


def _attributes(attributes: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    """Return attributes by name, whichever shape they have."""
    if isinstance(attributes, dict):
        return attributes
    found = {}
    for entry in attributes:
        value = entry.get("value")
        if isinstance(entry.get("key"), str) and isinstance(value, dict):
            found[entry["key"]] = _plain(value)
    return found


def _plain(value: dict[str, Any]) -> Any:
    """Return a typed value of OTLP as it is: whole numbers stand in text there."""
    if "intValue" in value:
        number = value["intValue"]
        sound = isinstance(number, str) and number.lstrip("-").isdecimal() and len(number) < 30
        return int(number) if sound else number
    return next(iter(value.values()), None)


def _count(found: dict[str, Any], names: tuple[str, ...]) -> int | None:
    name = next((name for name in names if found.get(name) is not None), None)
    if name is None:
        return None
    value = found[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise SpanError((name, f"expected a whole number, found {type(value).__name__}"))
    return value


def _text(found: dict[str, Any], name: str) -> str | None:
    value = found.get(name)
    return value[:200] if isinstance(value, str) else None


def _messages(found: dict[str, Any], name: str) -> list[Message] | None:
    """Return messages, which mostly stand as JSON in text, None where there are none."""
    value = found.get(name)
    if value is None:
        return None
    return [said.plain() for said in _decoded(name, value, list[_Said])]


def _system(found: dict[str, Any]) -> list[Message]:
    """Return the system's message, where it stands outside the messages."""
    value = found.get(SYSTEM)
    if value is None:
        return []
    return [Message("system", [_as_text(part) for part in _decoded(SYSTEM, value, list[Any])])]


def _decoded(name: str, value: Any, kind: Any) -> Any:
    try:
        if isinstance(value, str):
            return msgspec.json.decode(value, type=kind)
        return msgspec.convert(value, kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        field, what = explain(str(error))
        raise SpanError((name if field is None else f"{name}{field}", what)) from None
    except RecursionError:
        raise SpanError((name, "expected messages, found some nested too deeply")) from None


def _as_text(part: Any) -> Any:
    """Return a part of type text as OpenAI writes it; others as they are."""
    if (
        isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("content"), str)
    ):
        return {"type": "text", "text": part["content"]}
    return part


def _date(span: Span) -> str | None:
    """Return when a span starts, as a date."""
    if span.start_nanoseconds is None:
        return span.start_time
    text = str(span.start_nanoseconds)
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        raise SpanError(("startTimeUnixNano", "expected nanoseconds since 1970"))
    seconds, fraction = divmod(int(text), _NS_PER_SECOND)
    day = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return f"{day.isoformat(sep=' ')}.{fraction:09d}Z"

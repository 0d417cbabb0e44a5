"""Messages of prompts and answers in spans, under all attribute names in use.

Supported are current and former names of the semantic conventions for generative AI, and those of
common instrumentations: inference-perf (`gen_ai.input.text`, `gen_ai.output.text`), OpenLLMetry (an
attribute for each message, `gen_ai.prompt.0.content`), OpenInference
(`llm.input_messages.0.message...`) and Vercel's AI SDK (`ai.prompt.messages`). Contents may also be
in events of the span.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from workloads.formats.parts.otel_spans import Event, SpanError
from workloads.reading.json_lines import explain
from workloads.text.chat_template import Function, Message, ToolCall

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
SYSTEM, TOOLS = "gen_ai.system_instructions", "gen_ai.tool.definitions"

_INPUTS = (INPUT, "ai.prompt.messages")
_INPUT_TEXTS = ("gen_ai.input.text", "gen_ai.prompt", "gen_ai.content.prompt")
_INPUT_INDEXED = ("gen_ai.prompt", "llm.input_messages", "llm.prompts")
_OUTPUT_TEXTS = (
    "gen_ai.output.text",
    "gen_ai.completion",
    "gen_ai.content.completion",
    "gen_ai.output",
    "ai.response.text",
)
_OUTPUT_INDEXED = ("gen_ai.completion", "llm.output_messages", "llm.completions")

NAMES = {*_INPUTS, *_INPUT_TEXTS, *_OUTPUT_TEXTS, OUTPUT, SYSTEM, TOOLS}
INDEXED = tuple(f"{name}." for name in (*_INPUT_INDEXED, *_OUTPUT_INDEXED))

_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_PLACE = re.compile(r"\.(\d{1,6})\.(?:message\.)?(.+)", re.ASCII)
_TOOL_PLACE = re.compile(r"tool_calls\.(\d{1,4})\.(?:tool_call\.)?(?:function\.)?(\w+)", re.ASCII)
_TEXT_PLACE = re.compile(r"contents\.(\d{1,4})\.message_content\.text", re.ASCII)


class _InParts(Message, gc=False):
    """A message whose text may be in `parts`, as in the current conventions."""

    parts: list[Any] | None = None


def has_prompt(attributes: dict[str, Any]) -> bool:
    """Return whether the attributes contain a prompt."""
    if any(_is_there(attributes.get(name)) for name in (*_INPUTS, *_INPUT_TEXTS)):
        return True
    starts = tuple(f"{name}." for name in _INPUT_INDEXED)
    return any(name.startswith(starts) and _PLACE.search(name) for name in attributes)


def prompt_messages(attributes: dict[str, Any]) -> list[Message] | None:
    """Return the messages of a prompt, the system message first; None if there are none.

    Raises
    ------
    SpanError
        For an attribute with an invalid value.
    """
    messages = _prompt(attributes)
    system = attributes.get(SYSTEM)
    if not messages or not _is_there(system):
        return messages or None
    if isinstance(system, str) and system.lstrip()[:1] not in {"[", "{"}:
        return [Message("system", system), *messages]
    parts = _decoded(SYSTEM, system, list[Any])
    return [Message("system", [_as_text(part) for part in parts]), *messages]


def answer_message(attributes: dict[str, Any]) -> Message | None:
    """Return the first answer, None if there is none; errors as in `prompt_messages`."""
    if _is_there(attributes.get(OUTPUT)):
        return next(iter(_messages(OUTPUT, attributes[OUTPUT])), None)
    for name in _OUTPUT_TEXTS:
        if _is_there(attributes.get(name)):
            return next(iter(_texts(name, attributes[name], "assistant")), None)
    return next(
        (message for name in _OUTPUT_INDEXED for message in _indexed(attributes, name)), None
    )


def tools(attributes: dict[str, Any]) -> list[Any]:
    """Return the definitions of the tools offered to the model; errors as in `prompt_messages`."""
    value = attributes.get(TOOLS)
    return _decoded(TOOLS, value, list[Any]) if _is_there(value) else []


def with_events(attributes: dict[str, Any], events: Iterator[Event]) -> dict[str, Any]:
    """Return the attributes with those of the events added; existing attributes take precedence."""
    added: dict[str, Any] = {}
    asked, answered = [], []
    for event in events:
        if event.name in _ROLES:
            asked.append(_of_event(event, _ROLES[event.name]))
        elif event.name == _CHOICE:
            answered.append(_of_event(event, "assistant"))
        else:
            added |= {k: v for k, v in event.attributes.items() if k.startswith("gen_ai.")}
    if asked:
        added[INPUT] = asked
    if answered:
        added[OUTPUT] = answered
    if not added:
        return attributes
    if has_prompt(attributes):
        added = {k: v for k, v in added.items() if k != INPUT and not k.startswith("gen_ai.prompt")}
    return added | attributes


def _of_event(event: Event, role: str) -> dict[str, Any]:
    """Return the message of an event, from its attributes or from JSON in one of them."""
    values = event.attributes
    for name in ("gen_ai.event.content", "message", "body"):
        inner = _object(values.get(name))
        if inner is not None:
            values = _object(inner.get("message")) or inner
            break
    known = {name: values[name] for name in ("content", "tool_calls", "parts") if name in values}
    return {"role": str(values.get("role", role))} | known


def _object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        value = _json(value)
    return value if isinstance(value, dict) else None


def _prompt(attributes: dict[str, Any]) -> list[Message]:
    for name in _INPUTS:
        if _is_there(attributes.get(name)):
            return _messages(name, attributes[name])
    for name in _INPUT_TEXTS:
        if _is_there(attributes.get(name)):
            return _texts(name, attributes[name], "user")
    indexed = (_indexed(attributes, name) for name in _INPUT_INDEXED)
    return next((messages for messages in indexed if messages), [])


def _is_there(value: Any) -> bool:
    return value not in (None, "", "[]", [], "null")


def _messages(name: str, value: Any) -> list[Message]:
    """Return the messages of an attribute, which are usually JSON in text."""
    return [plain for message in _decoded(name, value, list[_InParts]) for plain in _plain(message)]


def _texts(name: str, value: Any, role: str) -> list[Message]:
    """Return the message of a text attribute, or several where the text is JSON of messages."""
    listed = _json(value) if isinstance(value, str) and value.lstrip()[:1] == "[" else value
    if isinstance(listed, list) and listed:
        if all(isinstance(item, dict) and "role" in item for item in listed):
            return _messages(name, listed)
        if listed is value:
            return [Message(role, list(map(_as_text, listed)))]
    if not isinstance(value, str):
        raise SpanError((name, f"expected text, found {type(value).__name__}"))
    return [Message(role, value)]


def _indexed(attributes: dict[str, Any], name: str) -> list[Message]:
    """Return the messages that are spread over attributes such as `NAME.0.role`."""
    parts: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        place = _PLACE.fullmatch(key, len(name)) if key.startswith(name) else None
        if place is not None:
            parts.setdefault(int(place[1]), {})[place[2]] = value
    role = "user" if name in _INPUT_INDEXED else "assistant"
    return [_of_parts(parts[at], role, f"{name}.{at}") for at in sorted(parts)]


def _of_parts(parts: dict[str, Any], role: str, name: str) -> Message:
    content = parts.get("content") or _listed_texts(parts)
    if isinstance(content, str) and content.startswith("[{"):
        listed = _json(content)
        typed = isinstance(listed, list) and all(
            isinstance(p, dict) and "type" in p for p in listed
        )
        content = list(map(_as_text, listed)) if typed else content
    if not isinstance(content, str | list | None):
        raise SpanError((f"{name}.content", f"expected text, found {type(content).__name__}"))
    calls: dict[int, dict[str, Any]] = {}
    for key, value in parts.items():
        place = _TOOL_PLACE.fullmatch(key)
        if place is not None:
            calls.setdefault(int(place[1]), {})[place[2]] = value
    tool_calls = [_call(calls[at]) for at in sorted(calls)] or None
    return Message(str(parts.get("role", role)), content, tool_calls=tool_calls)


def _listed_texts(parts: dict[str, Any]) -> list[Any] | None:
    """Return the texts of a message with several, as written by OpenInference."""
    places = ((_TEXT_PLACE.fullmatch(key), value) for key, value in parts.items())
    texts = {int(place[1]): value for place, value in places if place and isinstance(value, str)}
    return [texts[at] for at in sorted(texts)] or None


def _call(part: dict[str, Any]) -> ToolCall:
    return ToolCall(Function(str(part.get("name", "")), part.get("arguments", part.get("input"))))


def _plain(message: _InParts) -> Iterator[Message]:
    """Yield a message with its parts in OpenAI's fields; tool results are separate messages."""
    if message.parts is None:
        yield message
        return
    content, calls, results, thoughts = [], [], [], []
    for part in message.parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_call":
            calls.append(_call(part))
        elif kind == "tool_call_response":
            results.append(part.get("response", part.get("result", part.get("content"))))
        elif kind == "reasoning" and isinstance(part.get("content"), str):
            thoughts.append(part["content"])
        else:
            content.append(_as_text(part))
    if content or calls or thoughts or not results:
        reasoning = "\n".join(thoughts) or None
        yield Message(message.role, content, reasoning_content=reasoning, tool_calls=calls or None)
    for result in results:
        yield Message("tool", result if isinstance(result, str) else _written(result))


def _written(value: Any) -> str:
    return msgspec.json.encode(value).decode()


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


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _as_text(part: Any) -> Any:
    """Return a part of type text in OpenAI's form; return other parts unchanged."""
    if (
        isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("content"), str)
    ):
        return {"type": "text", "text": part["content"]}
    return part

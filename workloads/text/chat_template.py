"""ChatML, the chat template of Qwen and others: messages as text.

Each turn is `<|im_start|>role`, a line break, its text, `<|im_end|>` and a line break; the prompt
ends with the start of the assistant's turn. As in the templates of Qwen2.5 and Qwen3, a tool call
is JSON within `<tool_call>`, and tool results are a user's turn with `<tool_response>`. Unlike
these templates, it adds no default system prompt, no text around the tools' JSON, and no `<think>`
before an answer. As there, the reasoning of earlier turns is dropped.

Turns begin and end with special tokens, so that each turn can be tokenized on its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

GENERATION_PROMPT = "<|im_start|>assistant\n"


class Function(msgspec.Struct, gc=False):
    """A tool call; its arguments are JSON, as text or as a value."""

    name: str | None = None
    arguments: Any = None


class ToolCall(msgspec.Struct, gc=False):
    """A tool call, with or without OpenAI's wrapper."""

    function: Function | None = None
    name: str | None = None
    arguments: Any = None

    def called(self) -> Function | None:
        """Return the function that is called."""
        if self.function is None and self.name is not None:
            return Function(self.name, self.arguments)
        return self.function


class Message(msgspec.Struct, gc=False):
    """A message as in OpenAI's interface; other fields do not affect the prompt.

    Reasoning is in `reasoning_content` or `reasoning`, depending on the server.
    """

    role: str
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    reasoning: Any = None
    name: Any = None
    tool_call_id: Any = None

    def reasoning_text(self) -> str | None:
        """Return the reasoning, None if the message has none."""
        if self.reasoning_content is not None:
            return self.reasoning_content
        return self.reasoning if isinstance(self.reasoning, str) else None

    def calls(self) -> list[Function]:
        """Return the tool calls."""
        calls = [call.called() for call in self.tool_calls or []]
        return [call for call in (*calls, self.function_call) if call is not None]


def turns(messages: Sequence[Message], tools: Sequence[Any] = ()) -> Iterator[str]:
    """Yield the text of each turn; consecutive tool results are one turn.

    `tools` are written in the system's turn, which comes first and is added if needed.
    """
    if tools:
        first = messages[0] if messages and role_of(messages[0]) == "system" else None
        yield _turn("system", _with_tools("" if first is None else content_text(first), tools))
        messages = messages[first is not None :]
    for role, group in groupby(messages, role_of):
        if role == "tool":
            yield _turn("user", "\n".join(map(_tool_response, group)))
        else:
            yield from (_turn(role, plain_text(message)) for message in group)


def answer_text(message: Message) -> str:
    """Return what a model has written for a message, including its reasoning."""
    text, reasoning = plain_text(message), message.reasoning_text()
    return f"<think>\n{reasoning}\n</think>\n\n{text}" if reasoning else text


def content_text(message: Message) -> str:
    """Return the text of a message.

    A part that is no text (an image, a sound) becomes a short mark, different for each content.
    """
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "".join(map(_part_text, message.content))


def is_text(part: Any) -> bool:
    """Return whether a part of a message is text."""
    return isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))


def _part_text(part: Any) -> str:
    if is_text(part):
        return part if isinstance(part, str) else str(part["text"])
    return part_mark(part)


def part_mark(part: Any) -> str:
    """Return a mark for a part, equal for equal parts or parts with equal `uuid` (vLLM)."""
    known = part.get("uuid") if isinstance(part, dict) else None
    encoded = msgspec.json.encode(known or part, order="sorted")
    return f"<|part_{hashlib.sha256(encoded).hexdigest()[:16]}|>"


def role_of(message: Message) -> str:
    """Return the role of a message as named in templates."""
    return {"developer": "system", "function": "tool"}.get(message.role, message.role)


def _turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def plain_text(message: Message) -> str:
    """Return the text of a message followed by its tool calls."""
    parts = [content_text(message), *map(_call_text, message.calls())]
    return "\n".join(part for part in parts if part)


def _call_text(call: Function) -> str:
    given = call.arguments
    arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return f'<tool_call>\n{{"name": "{call.name or ""}", "arguments": {arguments}}}\n</tool_call>'


def _tool_response(message: Message) -> str:
    return f"<tool_response>\n{content_text(message)}\n</tool_response>"


def _with_tools(text: str, tools: Sequence[Any]) -> str:
    lines = [msgspec.json.encode(tool).decode() for tool in tools]
    return "\n".join([*([text, ""] if text else []), "<tools>", *lines, "</tools>"])

"""ChatML, the chat template of Qwen and others: messages to text, and so to tokens.

Each turn is `<|im_start|>role`, a line break, its text, `<|im_end|>` and a line break; the prompt
ends with the start of the assistant's turn. As in the templates of Qwen2.5 and Qwen3 a call of a
tool is JSON within `<tool_call>`, and what tools return is a user's turn with `<tool_response>`.
Where it differs from them, it adds less: no system prompt of its own, no words around the tools'
JSON, no `<think>` before an answer. Reasoning of earlier turns is dropped, as there.

Turns begin and end with a mark, so that their tokens are those of the whole prompt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

GENERATION_PROMPT = "<|im_start|>assistant\n"


class Function(msgspec.Struct, gc=False):
    """A call of a tool: its arguments are JSON, as text or as it stands."""

    name: str | None = None
    arguments: Any = None


class ToolCall(msgspec.Struct, gc=False):
    """A call as OpenAI wraps it, or without the wrap."""

    function: Function | None = None
    name: str | None = None
    arguments: Any = None

    def called(self) -> Function | None:
        """Return what is called."""
        if self.function is None and self.name is not None:
            return Function(self.name, self.arguments)
        return self.function


class Message(msgspec.Struct, gc=False):
    """A message as OpenAI's interface has it; other fields say nothing of the prompt.

    Servers call the reasoning `reasoning_content`, or `reasoning`.
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
        """Return the reasoning, None where the message does not tell it."""
        if self.reasoning_content is not None:
            return self.reasoning_content
        return self.reasoning if isinstance(self.reasoning, str) else None

    def calls(self) -> list[Function]:
        """Return the calls of tools."""
        calls = [call.called() for call in self.tool_calls or []]
        return [call for call in (*calls, self.function_call) if call is not None]


def turns(messages: Sequence[Message], tools: Sequence[Any] = ()) -> Iterator[str]:
    """Yield the text of each turn; what tools return in a row is one turn.

    `tools` stand in the system's turn, which comes first; there is one where there are tools.
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
    """Return what a model has written for a message, its reasoning included."""
    text, reasoning = plain_text(message), message.reasoning_text()
    return f"<think>\n{reasoning}\n</think>\n\n{text}" if reasoning else text


def content_text(message: Message) -> str:
    """Return the text of a message.

    A part that is no text (an image, a sound) counts as a short mark that differs where it does.
    """
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "".join(map(_part_text, message.content))


def is_text(part: Any) -> bool:
    """Say whether a part of a message is text."""
    return isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))


def _part_text(part: Any) -> str:
    if is_text(part):
        return part if isinstance(part, str) else str(part["text"])
    return part_mark(part)


def part_mark(part: Any) -> str:
    """Return a mark that is equal where a part is, or where its `uuid` says that it is (vLLM)."""
    known = part.get("uuid") if isinstance(part, dict) else None
    encoded = msgspec.json.encode(known or part, order="sorted")
    return f"<|part_{hashlib.sha256(encoded).hexdigest()[:16]}|>"


def role_of(message: Message) -> str:
    """Return the role of a message, in the one word that templates have for it."""
    return {"developer": "system", "function": "tool"}.get(message.role, message.role)


def _turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def plain_text(message: Message) -> str:
    """Return the text of a message and its calls of tools."""
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

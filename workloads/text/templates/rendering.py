"""Parts shared by chat templates: roles, reasoning, tool calls and their JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from workloads.text.chat_template import Function, Message, content_text, role_of

START, END = "<|im_start|>", "<|im_end|>\n"


class RenderError(ValueError):
    """Raised for messages that a template cannot render; the message is one line."""


def chatml_turn(role: str, text: str) -> str:
    """Return a turn between the special tokens of ChatML."""
    return f"{START}{role}\n{text}{END}"


def without_system(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """Return the text of the system message, if it is the first, and the other messages."""
    if messages and role_of(messages[0]) == "system":
        return content_text(messages[0]), messages[1:]
    return None, messages


def last_query(messages: Sequence[Message]) -> int:
    """Return the index of the last user message, not counting tool results in a user turn.

    Without any, it is that of the last message, as in the templates of Qwen.
    """
    for at in range(len(messages) - 1, -1, -1):
        if role_of(messages[at]) == "user":
            text = content_text(messages[at]).strip()
            if not (text.startswith("<tool_response>") and text.endswith("</tool_response>")):
                return at
    return len(messages) - 1


def reasoning_and_text(message: Message) -> tuple[str, str]:
    """Return the reasoning and the text of an answer, whose content may contain both."""
    text, reasoning = content_text(message), message.reasoning_text()
    return split_reasoning(text) if reasoning is None else (reasoning, text)


def split_reasoning(text: str) -> tuple[str, str]:
    """Return the content of `<think>` at the start of a text, and the text after it."""
    before, mark, _ = text.partition("</think>")
    if not mark:
        return "", text
    reasoning = before.rstrip("\n").rpartition("<think>")[2].lstrip("\n")
    return reasoning, text.rpartition("</think>")[2].lstrip("\n")


def arguments_of(call: Function) -> Any:
    """Return the arguments of a call; JSON in text is decoded, as servers do before rendering."""
    given = call.arguments
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        arguments = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return arguments if isinstance(arguments, dict) else given


def to_json(value: Any, indent: int | None = None) -> str:
    """Return JSON as the filter `tojson` of transformers writes it; text is unchanged."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=indent)

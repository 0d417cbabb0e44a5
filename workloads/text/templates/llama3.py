"""Llama 3.1 and later: always a system turn, with dates; tools in the user's first turn.

Source: the chat template published with Llama-3.1-8B-Instruct. Today's date is the template's
default, so that a file always gives the same trace. Messages that the original refuses (several
tool calls at once) are rendered one after another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workloads.text.chat_template import Message, content_text, role_of
from workloads.text.templates.rendering import arguments_of, to_json, without_system

_DATES = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
_BEFORE_TOOLS = (
    "Given the following functions, please respond with a JSON for a function call with its "
    "proper arguments that best answers the given prompt.\n\nRespond in the format "
    '{"name": function name, "parameters": dictionary of argument name and its value}.'
    "Do not use variables.\n\n"
)


@dataclass(frozen=True, slots=True)
class Llama3:
    """The template of Llama 3.1, 3.2 and 3.3."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        text = "".join(self._turns(messages, tools))
        return f"<|begin_of_text|>{text}{_header('assistant')}"

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes, without the token that ends a turn."""
        return _text(answer)

    def opens_reasoning(self) -> bool:
        """Return False: answers need not begin with reasoning."""
        return False

    def _turns(self, messages: Sequence[Message], tools: Sequence[Any]) -> Iterator[str]:
        system, others = without_system(messages)
        place = "Environment: ipython\n" if tools else ""
        yield _turn("system", f"{place}{_DATES}{(system or '').strip()}")
        if tools:
            listed = "".join(f"{to_json(tool, indent=4)}\n\n" for tool in tools)
            asked = content_text(others[0]).strip() if others else ""
            yield _turn("user", f"{_BEFORE_TOOLS}{listed}{asked}")
            others = others[1:]
        for message in others:
            role = "ipython" if role_of(message) == "tool" else role_of(message)
            text = json.dumps(content_text(message), ensure_ascii=False)
            yield _turn(role, text if role == "ipython" else _text(message))


def _header(role: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n"


def _turn(role: str, text: str) -> str:
    return f"{_header(role)}{text}<|eot_id|>"


def _text(message: Message) -> str:
    """Return the text of a message, or its tool calls, which replace the text."""
    calls = [
        f'{{"name": "{call.name or ""}", "parameters": {to_json(arguments_of(call))}}}'
        for call in message.calls()
    ]
    return "\n".join(calls) if calls else content_text(message).strip()

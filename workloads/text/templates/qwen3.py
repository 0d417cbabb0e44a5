"""Qwen3: answers contain reasoning, which is dropped from the history at the next user turn.

Source: the chat template published with Qwen3-8B. For the models of 2507 and Qwen3-Next that never
think, use ChatML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from workloads.text.chat_template import Message, content_text, role_of
from workloads.text.templates.rendering import (
    START,
    arguments_of,
    chatml_turn,
    last_query,
    reasoning_and_text,
    to_json,
    without_system,
)

NO_REASONING = "<think>\n\n</think>\n\n"

_BEFORE_TOOLS = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
_BEHIND_TOOLS = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments "
    "within <tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)


@dataclass(frozen=True, slots=True)
class Qwen3:
    """The template of Qwen3; without `thinking` the prompt ends with an empty reasoning block."""

    thinking: bool = True

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        begun = f"{START}assistant\n" + ("" if self.thinking else NO_REASONING)
        return "".join(self._turns(messages, tools)) + begun

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes, without the token that ends a turn."""
        reasoning, text = reasoning_and_text(answer)
        begun = _thought(reasoning) + text.lstrip("\n") if self.thinking else text
        return begun + _calls(answer, text)

    def opens_reasoning(self) -> bool:
        """Return whether thinking is on."""
        return self.thinking

    def _turns(self, messages: Sequence[Message], tools: Sequence[Any]) -> Iterator[str]:
        system, others = without_system(messages)
        if tools:
            listed = "".join(f"\n{to_json(tool)}" for tool in tools)
            before = "" if system is None else f"{system}\n\n"
            yield chatml_turn("system", f"{before}{_BEFORE_TOOLS}{listed}{_BEHIND_TOOLS}")
        elif system is not None:
            yield chatml_turn("system", system)
        query = last_query(others)
        for role, group in groupby(enumerate(others), lambda item: role_of(item[1])):
            if role == "tool":
                yield chatml_turn("user", tool_responses([message for _, message in group]))
                continue
            for at, message in group:
                if role != "assistant":
                    yield chatml_turn(role, content_text(message))
                else:
                    yield chatml_turn(role, _history(message, at > query, at + 1 == len(others)))


def tool_responses(messages: Sequence[Message], *, trim: bool = False) -> str:
    """Return the results of tools as the text of one user turn."""
    texts = (content_text(message) for message in messages)
    results = (text.strip() if trim else text for text in texts)
    return "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in results)


def _history(message: Message, in_loop: bool, last: bool) -> str:
    """Return the text of an earlier answer, with its reasoning if no user turn came after it."""
    reasoning, text = reasoning_and_text(message)
    if in_loop and (last or reasoning):
        return _thought(reasoning) + text.lstrip("\n") + _calls(message, text)
    return text + _calls(message, text)


def _thought(reasoning: str) -> str:
    thought = reasoning.strip("\n")
    return f"<think>\n{thought}\n</think>\n\n"


def _calls(message: Message, text: str) -> str:
    written = [
        f'<tool_call>\n{{"name": "{call.name or ""}", "arguments": {to_json(arguments_of(call))}}}'
        "\n</tool_call>"
        for call in message.calls()
    ]
    return ("\n" if text and written else "") + "\n".join(written)

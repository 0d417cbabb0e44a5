r"""Qwen3.5 and Qwen3.6: the prompt itself ends with the reasoning begun.

Source: the chat templates that Qwen3.5-9B and Qwen3.6-27B are published with.

- A prompt ends with `<think>\n`, or with an empty block where thinking is off.
- Since the user spoke last, answers of the history stand with their reasoning, even an empty one,
  so a loop of tools goes on from all that was there. Earlier ones stand without it.
- Where the original refuses messages (a system's message that is not the first one, no word of the
  user), they are rendered as they come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from workloads.text.chat_template import Function, Message, content_text, role_of
from workloads.text.templates.qwen3 import NO_REASONING, tool_responses
from workloads.text.templates.rendering import (
    START,
    arguments_of,
    chatml_turn,
    last_query,
    split_reasoning,
    to_json,
    without_system,
)

_BEFORE_TOOLS = "# Tools\n\nYou have access to the following functions:\n\n<tools>"
_BEHIND_TOOLS = """
</tools>

If you choose to call a function ONLY reply in the following format with NO suffix:

<tool_call>
<function=example_function_name>
<parameter=example_parameter_1>
value_1
</parameter>
<parameter=example_parameter_2>
This is the value for the second parameter
that can span
multiple lines
</parameter>
</function>
</tool_call>

<IMPORTANT>
Reminder:
- Function calls MUST follow the specified format: an inner <function=...></function> block must \
be nested within <tool_call></tool_call> XML tags
- Required parameters MUST be specified
- You may provide optional reasoning for your function call in natural language BEFORE the \
function call, but NOT after
- If there is no function call available, answer the question like normal with your current \
knowledge and do not tell the user about function calls
</IMPORTANT>"""


@dataclass(frozen=True, slots=True)
class Qwen35:
    """Qwen3.5. Without `thinking` the prompt ends behind an empty block of reasoning."""

    thinking: bool = True

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt."""
        begun = f"{START}assistant\n" + ("<think>\n" if self.thinking else NO_REASONING)
        return "".join(self._turns(messages, tools)) + begun

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes."""
        reasoning, text = _trimmed(answer)
        begun = f"{reasoning}\n</think>\n\n" if self.thinking else ""
        return f"{begun}{text}{self._calls(answer, text)}"

    def opens_reasoning(self) -> bool:
        """Say whether the model thinks."""
        return self.thinking

    def _turns(self, messages: Sequence[Message], tools: Sequence[Any]) -> Iterator[str]:
        system, others = without_system(messages)
        system_text = None if system is None else system.strip()
        if tools:
            listed = "".join(f"\n{to_json(tool)}" for tool in tools)
            behind = f"\n\n{system_text}" if system_text else ""
            yield chatml_turn("system", f"{_BEFORE_TOOLS}{listed}{_BEHIND_TOOLS}{behind}")
        elif system_text is not None:
            yield chatml_turn("system", system_text)
        query = -1 if self._preserves() else last_query(others)
        for role, group in groupby(enumerate(others), lambda item: role_of(item[1])):
            if role == "tool":
                results = [message for _, message in group]
                yield chatml_turn("user", tool_responses(results, trim=True))
                continue
            for at, message in group:
                if role == "assistant":
                    yield chatml_turn(role, self._history(message, at > query))
                else:
                    yield chatml_turn(role, content_text(message).strip())

    def _history(self, message: Message, in_loop: bool) -> str:
        """Return the text of an earlier answer."""
        reasoning, text = _trimmed(message)
        begun = f"<think>\n{reasoning}\n</think>\n\n" if in_loop else ""
        return f"{begun}{text}{self._calls(message, text)}"

    def _calls(self, message: Message, text: str) -> str:
        written = [
            f"<tool_call>\n<function={call.name or ''}>\n{self._parameters(call)}</function>\n"
            "</tool_call>"
            for call in message.calls()
        ]
        return ("\n\n" if text and written else "") + "\n".join(written)

    def _parameters(self, call: Function) -> str:
        arguments = arguments_of(call)
        if not isinstance(arguments, dict):  # which the original refuses
            return f"{to_json(arguments)}\n"
        return "".join(
            f"<parameter={name}>\n{self._value(value)}\n</parameter>\n"
            for name, value in arguments.items()
        )

    def _preserves(self) -> bool:
        """Say whether all answers keep their reasoning."""
        return False

    def _value(self, value: Any) -> str:
        """Return an argument: of Qwen3.5, JSON for what is an object or a list."""
        return to_json(value) if isinstance(value, dict | list) else str(value)


@dataclass(frozen=True, slots=True)
class Qwen36(Qwen35):
    """Qwen3.6. With `preserve_thinking` all answers of the history keep their reasoning."""

    preserve_thinking: bool = False

    def _preserves(self) -> bool:
        return self.preserve_thinking

    def _value(self, value: Any) -> str:
        return to_json(value)


def _trimmed(message: Message) -> tuple[str, str]:
    """Return reasoning and text without white space around them."""
    text, reasoning = content_text(message).strip(), message.reasoning_text()
    if reasoning is None:
        reasoning, text = split_reasoning(text)
    return reasoning.strip(), text

r"""Qwen3.5 and Qwen3.6: the prompt ends with the start of the reasoning.

Source: the chat templates published with Qwen3.5-9B and Qwen3.6-27B.

- A prompt ends with `<think>\n`, or with an empty block where thinking is off.
- Answers after the last user turn keep their reasoning in the history, even if it is empty, so that
  in a loop of tool calls each prompt begins with the previous one. Earlier answers lose it.
- Messages that the original refuses (a system message that is not the first, no user message) are
  rendered in their order.
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
    """The template of Qwen3.5; without `thinking` the prompt ends with an empty reasoning block."""

    thinking: bool = True

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        begun = f"{START}assistant\n" + ("<think>\n" if self.thinking else NO_REASONING)
        return "".join(self._turns(messages, tools)) + begun

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes, without the token that ends a turn."""
        reasoning, text = _trimmed(answer)
        begun = f"{reasoning}\n</think>\n\n" if self.thinking else ""
        return f"{begun}{text}{self._calls(answer, text)}"

    def opens_reasoning(self) -> bool:
        """Return whether thinking is on."""
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
        """Return an earlier answer as it is written in the prompt of a later turn."""
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
        if not isinstance(arguments, dict):  # the original template refuses these
            return f"{to_json(arguments)}\n"
        return "".join(
            f"<parameter={name}>\n{self._value(value)}\n</parameter>\n"
            for name, value in arguments.items()
        )

    def _preserves(self) -> bool:
        """Return whether all answers keep their reasoning."""
        return False

    def _value(self, value: Any) -> str:
        """Return an argument as text; Qwen3.5 writes objects and lists as JSON."""
        return to_json(value) if isinstance(value, dict | list) else str(value)


@dataclass(frozen=True, slots=True)
class Qwen36(Qwen35):
    """The template of Qwen3.6; with `preserve_thinking` all answers keep their reasoning."""

    preserve_thinking: bool = False

    def _preserves(self) -> bool:
        return self.preserve_thinking

    def _value(self, value: Any) -> str:
        return to_json(value)


def _trimmed(message: Message) -> tuple[str, str]:
    """Return the reasoning and text of a message without surrounding white space."""
    text, reasoning = content_text(message).strip(), message.reasoning_text()
    if reasoning is None:
        reasoning, text = split_reasoning(text)
    return reasoning.strip(), text

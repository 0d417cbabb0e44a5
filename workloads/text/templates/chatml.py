"""ChatML as a template: the next prompt of a chat goes on from the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workloads.text.chat_template import GENERATION_PROMPT, Message, answer_text, turns


@dataclass(frozen=True, slots=True)
class ChatMl:
    """ChatML, as `workloads.text.chat_template` has it."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt."""
        return "".join(turns(messages, tools)) + GENERATION_PROMPT

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes."""
        return answer_text(answer)

    def opens_reasoning(self) -> bool:
        """Say that answers need no reasoning."""
        return False

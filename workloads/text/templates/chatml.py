"""ChatML as a template: each prompt of a chat begins with the previous prompt and answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workloads.text.chat_template import GENERATION_PROMPT, Message, answer_text, turns


@dataclass(frozen=True, slots=True)
class ChatMl:
    """ChatML as described in `workloads.text.chat_template`."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        return "".join(turns(messages, tools)) + GENERATION_PROMPT

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes, without the token that ends a turn."""
        return answer_text(answer)

    def opens_reasoning(self) -> bool:
        """Return False: answers need not begin with reasoning."""
        return False

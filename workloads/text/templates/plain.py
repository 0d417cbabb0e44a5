"""Text without special tokens, for models that have no chat template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workloads.text.chat_template import Message, content_text, plain_text
from workloads.text.templates.rendering import to_json


@dataclass(frozen=True, slots=True)
class Plain:
    """The text of each message and a line break; tools come first, one a line, as JSON."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        lines = [*map(to_json, tools), *map(plain_text, messages)]
        return "".join(f"{line}\n" for line in lines)

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes."""
        reasoning = answer.reasoning_text()
        text = plain_text(answer) if answer.calls() else content_text(answer)
        return f"{reasoning}\n{text}" if reasoning else text

    def opens_reasoning(self) -> bool:
        """Return False: answers need not begin with reasoning."""
        return False

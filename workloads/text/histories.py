"""Prompts of sessions whose file holds the user's turns only: a server made the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from workloads.text.chat_template import GENERATION_PROMPT, Message, turns
from workloads.text.tokenizer import Tokens

MOST_UNKNOWN = 1 << 30  # tokens of all answers

_END = "<|im_end|>\n"
_FIRST_UNKNOWN = 1 << 30  # above the ids of any vocabulary

Session = str | int


@dataclass(slots=True)
class Histories:
    """The context of each session in the chat template.

    An answer is tokens that no other answer has, as nobody knows what the server said.
    """

    encode: Callable[[str], Tokens]
    context: defaultdict[Session, list[Tokens]] = field(default_factory=lambda: defaultdict(list))
    unknown: int = 0

    def say(self, session: Session, role: str, text: str) -> None:
        """Add a turn that asks for no answer, such as the system's."""
        self.context[session].append(self._turn(role, text))

    def ask(
        self, session: Session | None, role: str, text: str, output_tokens: int
    ) -> tuple[Tokens, Tokens]:
        """Add a turn and its answer to a session, or to none; return the prompt and the answer.

        Raises
        ------
        ValueError
            Where the answers of all sessions have too many tokens to tell them apart.
        """
        if self.unknown + output_tokens > MOST_UNKNOWN:
            raise ValueError(f"expected at most {MOST_UNKNOWN:,} tokens of answers in one file")
        start = _FIRST_UNKNOWN + self.unknown
        answer = np.arange(start, start + output_tokens, dtype=np.int64).astype(np.int32)
        self.unknown += output_tokens
        known = [] if session is None else self.context[session]
        prompt = np.concatenate([*known, self._turn(role, text), self.encode(GENERATION_PROMPT)])
        if session is not None:
            self.context[session] = [prompt, answer, self.encode(_END)]
        return prompt, answer

    def _turn(self, role: str, text: str) -> Tokens:
        return self.encode("".join(turns([Message(role, text)])))

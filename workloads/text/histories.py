"""Prompts of sessions whose file holds the user's turns only: a server made the answers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from workloads.text.chat_template import Message
from workloads.text.templates import Template, template_for
from workloads.text.tokenizer import Tokens

MOST_UNKNOWN = 1 << 30  # tokens of all answers

_FIRST_UNKNOWN = 1 << 30  # above the ids of any vocabulary
_MARK = "\U0010fffd"  # no character: what stands between two of them is an answer's number
_MARKED = re.compile(f"{_MARK}([0-9]+){_MARK}")

Session = str | int


@dataclass(slots=True)
class Histories:
    """The messages of each session, and what a chat template makes of them.

    An answer is tokens that no other answer has, as nobody knows what the server said. Where the
    template leaves reasoning out of the history, the whole answer stands there all the same: how
    much of it was reasoning is not known either.
    """

    encode: Callable[[str], Tokens]
    template: Template = field(default_factory=lambda: template_for(None))
    context: defaultdict[Session, list[Message]] = field(default_factory=lambda: defaultdict(list))
    answers: list[Tokens] = field(default_factory=list)
    unknown: int = 0

    def say(self, session: Session, role: str, text: str) -> None:
        """Add a turn that asks for no answer, such as the system's."""
        self.context[session].append(_message(role, text))

    def ask(
        self, session: Session | None, role: str, text: str, output_tokens: int
    ) -> tuple[Tokens, Tokens]:
        """Add a turn and its answer to a session, or to none; return the prompt and the answer.

        Raises
        ------
        ValueError
            Where the answers of all sessions have too many tokens to tell them apart, and where
            the template refuses the messages.
        """
        answer = self._unknown_answer(output_tokens)
        messages = [*([] if session is None else self.context[session]), _message(role, text)]
        prompt = np.concatenate([*self._tokens(self.template.prompt(messages, ()))])
        if session is not None:
            self.answers.append(answer)
            message = Message("assistant", f"{_MARK}{len(self.answers) - 1}{_MARK}")
            self.context[session] = [*messages, message]
        return prompt, answer

    def _unknown_answer(self, output_tokens: int) -> Tokens:
        if self.unknown + output_tokens > MOST_UNKNOWN:
            raise ValueError(f"expected at most {MOST_UNKNOWN:,} tokens of answers in one file")
        start = _FIRST_UNKNOWN + self.unknown
        self.unknown += output_tokens
        return np.arange(start, start + output_tokens, dtype=np.int64).astype(np.int32)

    def _tokens(self, text: str) -> Iterator[Tokens]:
        """Yield the tokens of a text in which answers are marked."""
        for at, part in enumerate(_MARKED.split(text)):
            yield self.answers[int(part)] if at % 2 else self.encode(part)


def _message(role: str, text: str) -> Message:
    """Return a message of the file, in which nothing is taken for the mark of an answer."""
    return Message(role, text.replace(_MARK, "\ufffd"))

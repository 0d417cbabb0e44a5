"""Prompts of sessions in files that hold only the user's turns, with unknown answers."""

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

_FIRST_UNKNOWN = 1 << 30  # larger than the ids of any vocabulary
_MARK = "\U0010fffd"  # a private-use character; a pair of them encloses an answer's number
_MARKED = re.compile(f"{_MARK}([0-9]+){_MARK}")

Session = str | int


@dataclass(slots=True)
class Histories:
    """The messages of each session, from which a chat template renders prompts.

    An unknown answer consists of tokens that no other answer has. The template may omit reasoning
    from the history, but the whole answer is kept there, since the share of reasoning in it is
    unknown.
    """

    encode: Callable[[str], Tokens]
    template: Template = field(default_factory=lambda: template_for(None))
    context: defaultdict[Session, list[Message]] = field(default_factory=lambda: defaultdict(list))
    answers: list[Tokens] = field(default_factory=list)
    unknown: int = 0

    def say(self, session: Session, role: str, text: str) -> None:
        """Add a turn that asks for no answer, such as a system prompt."""
        self.context[session].append(_message(role, text))

    def ask(
        self, session: Session | None, role: str, text: str, output_tokens: int
    ) -> tuple[Tokens, Tokens]:
        """Add a turn and its answer to a session, or to none; return prompt and answer as tokens.

        Raises
        ------
        ValueError
            For answers with too many tokens in all to number them, or messages that the template
            refuses.
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
        """Yield the tokens of a text, with those of answers in place of their marks."""
        for at, part in enumerate(_MARKED.split(text)):
            yield self.answers[int(part)] if at % 2 else self.encode(part)


def _message(role: str, text: str) -> Message:
    """Return a message in which no text can be mistaken for the mark of an answer."""
    return Message(role, text.replace(_MARK, "\ufffd"))

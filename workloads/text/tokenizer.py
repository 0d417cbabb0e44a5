"""A tokenizer that does not tokenise again what it has seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int32]

PIECE_CHARACTERS = 1024
MOST_CHARACTERS = 64 << 20  # of text whose tokens are kept

_CUT = re.compile(r"(?<=[A-Za-z]) ")
_TURN = re.compile(r"(?<=\n)(?=<\|im_start\|>)")


@dataclass(slots=True, eq=False)
class Tokenizer:
    """Turns text into tokens. Only its tokens and, for a while, its pieces are kept, in memory.

    Long texts are tokenised in pieces, a turn of a chat or about `PIECE_CHARACTERS` each, cut where
    that cannot change a token, and the pieces met last are remembered: what texts share is
    tokenised once.

    Parameters
    ----------
    name
        What it is, for notes and reports.
    convert
        Text to token ids, each within int32; equal texts give equal ids.
    stand_in
        Whether its tokens are those of no model.
    separable
        Whether text may be cut before any space that follows one of the letters A to Z: the
        tokens of both parts are those of the whole.
    splits_turns
        Whether it may be cut before `<|im_start|>` on a new line; so it may where it is separable.
    """

    name: str
    convert: Callable[[str], Sequence[int] | Tokens]
    stand_in: bool = False
    separable: bool = False
    splits_turns: bool = False
    _known: dict[str, Tokens] = field(default_factory=dict)
    _characters: int = 0

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text: int32, shape (tokens,), not to be written to."""
        pieces = [self._piece(piece) for piece in self._pieces(text)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def remark(self) -> str:
        """Say in a note what the tokens are."""
        if self.stand_in:
            return f"tokens are {self.name}, a stand-in for those of a model: lengths are estimates"
        return f"tokens are those of {self.name}"

    def _pieces(self, text: str) -> Iterator[str]:
        """Cut a text; where it is cut depends on nothing behind the cut, or on the turn only."""
        turns = _TURN.split(text) if self.separable or self.splits_turns else (text,)
        for turn in turns:
            at = 0
            while self.separable and (cut := _CUT.search(turn, at + PIECE_CHARACTERS)):
                yield turn[at : cut.start()]
                at = cut.start()
            yield turn[at:]

    def _piece(self, text: str) -> Tokens:
        tokens = self._known.pop(text, None)
        if tokens is None:
            tokens = np.array(self.convert(_sound(text)), dtype=np.int32)
            tokens.setflags(write=False)
            self._characters += len(text)
            while self._characters > MOST_CHARACTERS and self._known:
                oldest = next(iter(self._known))
                del self._known[oldest]
                self._characters -= len(oldest)
        self._known[text] = tokens  # a dict keeps the order: the piece met last stands last
        return tokens


def _sound(text: str) -> str:
    """Replace lone surrogates, which no encoding holds."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

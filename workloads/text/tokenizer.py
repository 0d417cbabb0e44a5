"""Tokenizers with a cache of recent text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int32]

PIECE_CHARACTERS = 1024
MOST_CHARACTERS = 64 << 20  # of cached text

_CUT = re.compile(r"(?<=[A-Za-z]) ")
_TURN = re.compile(r"(?<=\n)(?=<\|im_start\|>)")


@dataclass(slots=True, eq=False)
class Tokenizer:
    """A tokenizer with a cache; text is kept in this cache only, in memory.

    Long texts are tokenized in pieces, each a turn of a chat or about `PIECE_CHARACTERS` long,
    split where that cannot change a token. Recent pieces are cached, so that common prefixes are
    tokenized once.

    Parameters
    ----------
    name
        Description for notes and reports.
    convert
        Function from text to token ids within int32; equal texts give equal ids.
    stand_in
        Whether it is a stand-in, whose tokens are those of no model.
    separable
        Whether text can be split before any space that follows a letter from A to Z, without
        changing its tokens.
    splits_turns
        Whether text can be split before `<|im_start|>` on a new line; implied by `separable`.
    """

    name: str
    convert: Callable[[str], Sequence[int] | Tokens]
    stand_in: bool = False
    separable: bool = False
    splits_turns: bool = False
    _known: dict[str, Tokens] = field(default_factory=dict)
    _characters: int = 0

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text: int32, shape (tokens,), read-only."""
        pieces = [self._piece(piece) for piece in self._pieces(text)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def remark(self) -> str:
        """Return a note on the tokens."""
        if self.stand_in:
            return f"tokens are {self.name}, a stand-in for those of a model: lengths are estimates"
        return f"tokens are those of {self.name}"

    def _pieces(self, text: str) -> Iterator[str]:
        """Split a text into pieces; equal beginnings of texts are split alike."""
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
        self._known[text] = tokens  # moved to the end, since dicts keep insertion order
        return tokens


def _sound(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

"""Representations of prompts in files, each of which can be interned as a prefix tree.

A reader adds one prompt for each row. `intern` then builds the tree, once; it frees the rows' data
on the way, since that is most of the memory of an import.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workloads.prefixes.interning import Interned, intern_blocks
from workloads.prefixes.numbering import Int64
from workloads.prefixes.token_lists import TokenTree

MAX_KEYS = (1 << 31) - 1

Order = NDArray[np.int64] | None  # of the rows; None for the order of the file


class Prompts(Protocol):
    """The prompts of all rows, in one of the representations below."""

    @property
    def granularity(self) -> int:
        """Tokens per block to which overlaps are known: they only end at multiples of it."""
        ...

    def intern(self, prompt_tokens: Int64, order: Order) -> Interned:
        """Intern the rows in `order`; `prompt_tokens` (shape (rows,)) is already in that order."""
        ...


@dataclass(slots=True)
class BlockKeys:
    """Prompts as keys of blocks: those of row `i` are `keys[ends[i - 1]:ends[i]]`.

    The keys of a row may cover less than its prompt: the rest matches nothing. A row without keys
    is a prompt of which only the length is known.
    """

    block: int
    keys: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def granularity(self) -> int:
        """Tokens per block."""
        return self.block

    def add(self, ids: Iterable[int]) -> None:
        """Add a row with these block ids.

        Raises
        ------
        OverflowError, TypeError
            For an id that is not from 0 to 2**64 - 1 or no integer; then nothing is added.
        """
        try:
            self.keys.extend(ids)
        except (OverflowError, TypeError):
            del self.keys[self.ends[-1] if self.ends else 0 :]
            raise
        self.ends.append(len(self.keys))

    def of_row(self, row: int) -> array[int]:
        """Return the keys of a row."""
        return self.keys[self.ends[row - 1] if row else 0 : self.ends[row]]

    def offsets(self) -> Int64:
        """Return the index of each row's first key, and the number of keys: shape (rows + 1,)."""
        return np.concatenate([[0], np.frombuffer(self.ends, dtype=np.int64)])

    def missing_blocks(self, prompt_tokens: Int64) -> Int64:
        """Return the number of blocks of each prompt without a key; a partial one counts as 1."""
        return -(-prompt_tokens // self.block) - np.diff(self.offsets())

    def take_keys(self) -> NDArray[np.uint64]:
        """Return the keys and drop them here, since they are most of the memory."""
        keys = np.frombuffer(self.keys, dtype=np.uint64)
        self.keys = array("Q")
        return keys

    def intern(self, prompt_tokens: Int64, order: Order) -> Interned:
        """Intern the rows; keys of block contents, not prefixes, are turned into prefix keys."""
        offsets = self.offsets()
        if order is None:
            return intern_blocks(self.take_keys(), offsets, prompt_tokens, self.block)
        at, offsets = reordered(offsets, order)
        return intern_blocks(self.take_keys()[at], offsets, prompt_tokens, self.block)


@dataclass(slots=True)
class TokenLists:
    """Prompts as lists of tokens, with their answers where known.

    Common prefixes are stored once, so that memory grows with distinct tokens only.
    """

    granularity: int = 1
    ends: array[int] = field(default_factory=lambda: array("q"))
    answer_ends: array[int] = field(default_factory=lambda: array("q"))
    tree: TokenTree = field(default_factory=TokenTree)

    def add(self, tokens: NDArray[np.int32], answer: NDArray[np.int32] | None = None) -> None:
        """Add a row: a prompt of at least one token, and the tokens of its answer if known."""
        end = self.tree.add(tokens)
        self.ends.append(end)
        self.answer_ends.append(-1 if answer is None else self.tree.add(answer, below=end))

    def intern(self, prompt_tokens: Int64, order: Order) -> Interned:
        """Intern the rows, exact to the token; an answer's nodes follow those of its prompt."""
        tree, self.tree = self.tree, TokenTree()
        ends = np.frombuffer(self.ends, dtype=np.int64)
        after = np.frombuffer(self.answer_ends, dtype=np.int64)
        if order is not None:
            ends, after = ends[order], after[order]
        known = after >= 0
        both = np.stack([ends, after], axis=1).ravel()
        grown, numbers = tree.numbered(both[both >= 0].tolist())
        leaf = numbers[ends]
        if not known.any():
            return Interned(grown, leaf)
        return Interned(grown, leaf, after=np.where(known, numbers[after], np.int32(-1)))


def reordered(offsets: Int64, order: Int64) -> tuple[Int64, Int64]:
    """Return the indices that reorder the rows' concatenated data, and the new offsets."""
    lengths = np.diff(offsets)[order]
    sorted_offsets = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(offsets[order] - sorted_offsets[:-1], lengths)
    return np.arange(len(shift)) + shift, sorted_offsets

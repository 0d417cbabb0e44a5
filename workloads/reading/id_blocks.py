"""Rows of prompts given as block ids: numbers or text, in blocks of one size or several."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from simulator.base.bounds import MAX_BLOCK_TOKENS
from workloads.anomaly import Anomaly
from workloads.prefixes.id_ranges import ranges_of
from workloads.prefixes.prompts import MAX_KEYS, BlockKeys
from workloads.reading.fields import Problem, id_problem, short
from workloads.rows import Rows

Ids = Sequence[int | str]


@dataclass(slots=True)
class IdBlocks:
    """The block ids of all rows while they are read.

    Text ids (hexadecimal digests) are opaque: each distinct one is numbered. Rows of different
    block sizes share nothing with each other, since a prefix of one has no id in the other.

    Parameters
    ----------
    block
        Tokens per block, for rows without a block size.
    size_field
        The field of a row's block size, for messages.
    """

    block: int
    size_field: str = "block_size"
    keys: BlockKeys = field(init=False)
    sizes: array[int] = field(default_factory=lambda: array("q"))
    names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keys = BlockKeys(self.block)

    def add(
        self, where: str, ids: Ids, prompt_tokens: int, block: int | None = None
    ) -> Problem | None:
        """Add the ids of a row, or return what is wrong with them and add none.

        Parameters
        ----------
        where
            The field of the ids, for messages.
        ids
            All numbers or all text, of the same kind as in earlier rows.
        prompt_tokens
            The length of the prompt; blocks may cover less than it, not more.
        block
            The row's own block size, if any.
        """
        size = self.block if block is None else block
        size_source = self.size_field if block is not None else "--block"
        problem = self._size_problem(where, len(ids), prompt_tokens, size, size_source)
        if problem is not None:
            return problem
        try:
            self.keys.add(self._numbers(ids))
        except OverflowError:
            return id_problem(where, cast("list[int]", ids))
        except TypeError:
            return where, "expected ids that are all whole numbers or all text, found both"
        self.sizes.append(size if ids else 0)
        return None

    def size_of_row(self, row: int) -> int:
        """Return the tokens per block of a row."""
        return self.sizes[row] or self.block

    def give_to(self, rows: Rows) -> Rows:
        """Set these ids as the prompts of `rows`, once all are read; return `rows`."""
        first = next(filter(None, self.sizes), self.block)
        self.sizes = array("q", [size or first for size in self.sizes])  # 0: a row without ids
        others = [at for at, size in enumerate(self.sizes) if size != first]
        if not others:
            self.keys.block = first
            rows.prompts = self.keys
            return rows
        sizes = ", ".join(map(str, sorted(set(self.sizes))))
        detail = f"blocks of {sizes} tokens: rows of different block sizes share nothing"
        line = rows.line[others[0]]
        rows.oddities["mixed-block-sizes"] = Anomaly("mixed-block-sizes", len(others), line, detail)
        rows.prompts = prompts = ranges_of(self.keys, self.sizes)
        rows.oddities |= prompts.anomalies(rows.lengths(), rows.line)
        return rows

    def _size_problem(
        self, where: str, ids: int, length: int, size: int, size_source: str
    ) -> Problem | None:
        if not 1 <= size <= MAX_BLOCK_TOKENS:
            return self.size_field, f"expected 1 to {MAX_BLOCK_TOKENS} tokens, found {short(size)}"
        blocks = -(-length // size)
        if ids > blocks:
            fit = f"at most {blocks} for {length} tokens in blocks of {size}"
            return where, f"expected {fit}, found {ids}: is the block size right ({size_source})?"
        if len(self.keys.keys) + ids > MAX_KEYS:
            return where, f"expected at most {MAX_KEYS:,} ids in one file"
        return None

    def _numbers(self, ids: Ids) -> Sequence[int]:
        """Return ids as numbers; text ids get numbers in the order in which they occur."""
        if not self.names and not (ids and isinstance(ids[0], str)):
            return cast("Sequence[int]", ids)
        if (self.keys.keys and not self.names) or not all(isinstance(key, str) for key in ids):
            raise TypeError
        names = self.names
        return [names.setdefault(cast("str", key), len(names)) for key in ids]

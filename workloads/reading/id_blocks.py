"""Rows that name their blocks by ids: numbers or text, in blocks of one size or of several."""

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
    """The ids of all rows while they are read.

    Text ids (hexadecimal digests) are opaque: each distinct one is numbered. Rows of different
    block sizes share nothing with each other, since no prefix of one is named in the other.

    Parameters
    ----------
    block
        Tokens a block, where a row does not say otherwise.
    size_field
        Where rows say otherwise, for messages.
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
        """Add the ids of a row, or say what is wrong with them (or its block size) and add none.

        Parameters
        ----------
        where
            The field of the ids, for messages.
        ids
            All numbers or all text, as those of the rows before.
        prompt_tokens
            The length of the prompt, which may be more than the blocks hold, not less.
        block
            The block size that the row states, if any.
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
        """Return the tokens of a row's blocks."""
        return self.sizes[row] or self.block

    def give_to(self, rows: Rows) -> Rows:
        """Make the ids the prompts of `rows`, which have been read; return the rows."""
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
        """Return ids that are numbers as they are, and text as numbers of its own."""
        if not self.names and not (ids and isinstance(ids[0], str)):
            return cast("Sequence[int]", ids)
        if (self.keys.keys and not self.names) or not all(isinstance(key, str) for key in ids):
            raise TypeError
        names = self.names
        return [names.setdefault(cast("str", key), len(names)) for key in ids]

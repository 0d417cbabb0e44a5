"""Prompts as ranges of consecutive block ids, so that a long prompt is a few numbers.

Ids may be local to a scope (a session), and block sizes may differ from row to row. Ranges are
never expanded into blocks. Instead all ranges of a scope are cut wherever one of them starts or
ends. Every range is then a sequence of whole pieces, and two rows share the same blocks as they
share pieces.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workloads.anomaly import Anomaly
from workloads.prefixes.interning import Interned, intern_pieces
from workloads.prefixes.numbering import Int64, number
from workloads.prefixes.prompts import BlockKeys, reordered

MAX_ID = (1 << 62) - 1
MAX_PIECES = 1 << 25  # of one trace: about 2 GB while it is read

_PARTIAL = "the partial last block has no id: it matches nothing"
_TOO_FEW = "whole blocks have no id: they match nothing"


@dataclass(slots=True)
class IdRanges:
    """The prompts of all rows as ranges of block ids.

    Range `k` has the ids `first[k]` to `first[k] + count[k] - 1`; row `i` has the ranges `ends[i -
    1]` to `ends[i]` (possibly none). Equal ids mean equal prefixes, or equal blocks, among rows
    with the same scope and block size; other rows share nothing. The ids may cover less than the
    prompt: the rest matches nothing.
    """

    first: array[int] = field(default_factory=lambda: array("q"))
    count: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    scope: array[int] = field(default_factory=lambda: array("q"))
    block: array[int] = field(default_factory=lambda: array("q"))

    def add(self, first: array[int], count: array[int], scope: int, block: int) -> None:
        """Add a row; ids are from 0 to `MAX_ID`, counts at least 1."""
        self.first.extend(first)
        self.count.extend(count)
        self.ends.append(len(self.first))
        self.scope.append(scope)
        self.block.append(block)

    @property
    def granularity(self) -> int:
        """The greatest number of tokens of which all block sizes are multiples."""
        return int(np.gcd.reduce(np.unique(_column(self.block)), initial=0)) or 1

    def offsets(self) -> Int64:
        """Return the index of each row's first range, and the number of ranges.

        Shape (rows + 1,).
        """
        return np.concatenate([[0], _column(self.ends)])

    def missing_blocks(self, prompt_tokens: Int64) -> Int64:
        """Return the number of blocks of each prompt without an id; a partial block counts as 1."""
        blocks = np.concatenate([[0], np.cumsum(_column(self.count))])[self.offsets()]
        return -(-prompt_tokens // _column(self.block)) - np.diff(blocks)

    def anomalies(self, prompt_tokens: Int64, line: array[int]) -> dict[str, Anomaly]:
        """Return the anomalies of the rows' ids, given the rows' lengths and lines."""
        missing = self.missing_blocks(prompt_tokens)
        floored = (missing == 1) & (prompt_tokens % _column(self.block) > 0)
        return {
            what: Anomaly(what, int(np.count_nonzero(where)), line[int(where.argmax())], detail)
            for what, where, detail in (
                ("no-id-for-partial-block", floored, _PARTIAL),
                ("too-few-ids", (missing > 0) & ~floored, _TOO_FEW),
            )
            if where.any()
        }

    def pieces(self) -> int:
        """Return the total number of pieces of ranges, which determines the cost of interning."""
        return int((np.subtract(*self._cuts()[1:])).sum())

    def intern(self, prompt_tokens: Int64, order: Int64 | None) -> Interned:
        """Intern the rows; ids of block contents, not prefixes, are turned into prefix ids."""
        keys, stops, offsets = self.unfold()
        if order is not None:
            at, offsets = reordered(offsets, order)
            keys, stops = keys[at], stops[at]
        return intern_pieces(keys, stops, offsets, prompt_tokens)

    def unfold(self) -> tuple[Int64, Int64, Int64]:
        """Return the keys of all rows' pieces, their ends in tokens, and the rows' offsets.

        A piece is a run of ids within which no range starts or ends.
        """
        size, above, below = self._cuts()
        per_range = above - below
        starts = np.concatenate([[0], np.cumsum(per_range)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], per_range)
        keys = np.repeat(below, per_range) + within
        offsets = starts[self.offsets()]
        row_of = np.repeat(np.arange(len(self.ends)), np.diff(offsets))
        blocks = np.cumsum(size[keys])
        before = np.concatenate([[0], blocks])[offsets[:-1]]
        return keys, (blocks - before[row_of]) * _column(self.block)[row_of], offsets

    def _cuts(self) -> tuple[Int64, Int64, Int64]:
        """Cut all ranges into pieces, runs of ids within which no range starts or ends.

        Returns the number of blocks of each piece and, for each range, one past its last piece, and
        its first piece. A piece between two scopes is in no range, whatever its size.
        """
        first, count = _column(self.first), _column(self.count)
        ids, rank = np.unique(np.concatenate([first, first + count]), return_inverse=True)
        scope = np.repeat(self._scopes(), np.diff(self.offsets()))
        places = np.concatenate([scope, scope]) * len(ids) + rank
        cuts, at = np.unique(places, return_inverse=True)
        size = np.diff(ids[cuts % max(len(ids), 1)], append=0)
        below, above = np.split(at, 2)
        return size, above, below

    def _scopes(self) -> NDArray[np.int64]:
        """Return a number for each row's pair of scope and block size."""
        _, scope = np.unique(_column(self.scope), return_inverse=True)
        blocks, block = np.unique(_column(self.block), return_inverse=True)
        return scope * len(blocks) + block


def ranges_of(blocks: BlockKeys, sizes: array[int]) -> IdRanges:
    """Return block keys as ranges, with a block size for each row; `blocks` loses its keys."""
    offsets = blocks.offsets()
    ids, _ = number(blocks.take_keys())
    starts = np.ones(len(ids), dtype=np.bool_)
    starts[1:] = np.diff(ids) != 1
    starts[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    at = np.flatnonzero(starts)
    return IdRanges(
        first=_array(ids[at]),
        count=_array(np.diff(at, append=len(ids))),
        ends=_array(np.searchsorted(at, offsets[1:])),
        scope=_array(np.zeros(len(sizes), dtype=np.int64)),
        block=sizes,
    )


def _array(values: NDArray[np.int32] | Int64) -> array[int]:
    return array("q", values.astype(np.int64).tobytes())


def _column(values: array[int]) -> Int64:
    return np.frombuffer(values, dtype=np.int64)

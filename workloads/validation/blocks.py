"""Anomalies of block keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workloads.anomaly import Anomaly
from workloads.prefixes.numbering import (
    Int64,
    Keys,
    leading_runs,
    name_prefixes,
    number,
    predecessors,
)
from workloads.prefixes.prompts import BlockKeys

Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Numbered keys of all rows; those of row `i` are from `offsets[i]` to `offsets[i + 1]`.

    Parameters
    ----------
    ids
        Number of each key in the file.
    first
        Index of each number's first occurrence.
    prefixes
        Numbers that identify whole prefixes: `ids`, or numbers derived from content keys.
    """

    offsets: Int64
    ids: Int32
    first: Int32
    prefixes: Int32

    @property
    def last(self) -> Int64:
        """The number of the prefix that ends with each row's last key, -1 for a row without."""
        last = np.full(len(self.offsets) - 1, -1, dtype=np.int64)
        full = self.offsets[1:] > self.offsets[:-1]
        last[full] = self.prefixes[self.offsets[1:][full] - 1]
        return last


def number_blocks(prompts: BlockKeys) -> Blocks:
    """Return the numbered keys of all rows, without changing `prompts`."""
    return number_keys(np.frombuffer(prompts.keys, dtype=np.uint64), prompts.offsets())


def number_keys(keys: Keys, offsets: Int64) -> Blocks:
    """Return numbered keys: those of row `i` are `keys[offsets[i]:offsets[i + 1]]`."""
    ids, first = number(keys)
    whole = name_prefixes(ids, first, offsets)
    prefixes = ids if whole else number(leading_runs(ids, offsets))[0]
    return Blocks(offsets, ids, first, prefixes)


def block_anomalies(
    blocks: Blocks, prompts: BlockKeys, prompt_tokens: Int64, line: Int64
) -> Iterator[Anomaly]:
    """Yield the anomalies of the keys of rows with these lengths and lines (shape (rows,))."""
    if not len(blocks.ids):
        detail = "prompts share nothing: only lengths"
        yield Anomaly("no-prefixes", len(line), int(line[0]), detail)
        return
    missing = prompts.missing_blocks(prompt_tokens)
    floored = (missing == 1) & (prompt_tokens % prompts.block > 0)
    short = (missing > 0) & ~floored
    for what, where, detail in (
        (
            "no-id-for-partial-block",
            floored,
            "the partial last block has no id: it matches nothing",
        ),
        ("too-few-ids", short, "whole blocks have no id: they match nothing"),
    ):
        if where.any():
            yield Anomaly(what, int(np.count_nonzero(where)), int(line[where.argmax()]), detail)
    yield from content_anomalies(blocks, line)


def content_anomalies(blocks: Blocks, line: Int64) -> Iterator[Anomaly]:
    """Yield a warning where ids identify the content of blocks; `line` is by row."""
    if blocks.prefixes is not blocks.ids:
        yield _content_ids(blocks, line)


def _content_ids(blocks: Blocks, line: Int64) -> Anomaly:
    starts = blocks.offsets[:-1][blocks.offsets[:-1] < blocks.offsets[1:]]
    before = np.concatenate([[np.int32(-1)], blocks.ids[:-1]])
    before[starts] = -1
    differs = predecessors(blocks.ids, blocks.first, blocks.offsets)[blocks.ids] != before
    row = int(np.searchsorted(blocks.offsets, int(differs.argmax()), side="right")) - 1
    detail = "an id has two predecessors: ids name content, and are matched as leading runs"
    return Anomaly("content-ids", len(np.unique(blocks.ids[differs])), int(line[row]), detail)

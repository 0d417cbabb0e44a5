"""Export of traces as Mooncake-style JSON lines."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from simulator.base.errors import UsageError
from simulator.base.files import whole_file
from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace

DEFAULT_BLOCK_TOKENS = 16  # for traces whose overlaps are known to the token


def export_mooncake(trace: Trace, path: str | Path, *, block: int | None = None) -> None:
    """Write a trace as JSON lines, compressed with gzip where the name ends in `.gz`.

    Block ids number prefixes in the order in which they first occur; each names the whole prefix up
    to the end of its block, and a partial last block has an id of its own. Each row holds the block
    size. Times are written with all their digits, so that reading them back gives the same values.
    The same trace always gives the same bytes.

    Parameters
    ----------
    trace, path
        The trace, and the file to write.
    block
        Tokens a block. None: the granularity of the trace (the tokens per block to which its
        overlaps are known), or 16 where that is one token.

    Raises
    ------
    UsageError
        For a block size below 1, or a file that cannot be written.
    """
    if block is None:
        block = trace.granularity if trace.granularity > 1 else DEFAULT_BLOCK_TOKENS
    if block < 1:
        raise UsageError(f"block: expected at least 1 token, found {block}")
    path = Path(path)
    encode = msgspec.json.Encoder().encode
    with whole_file(path) as temporary, _opened(temporary, path.suffix == ".gz") as file:
        for row in _rows(trace, block):
            file.write(encode(row) + b"\n")


@contextmanager
def _opened(path: Path, zipped: bool) -> Iterator[BinaryIO | gzip.GzipFile]:
    with path.open("wb") as file:
        if not zipped:
            yield file
            return
        # a name or time in the header would make the bytes differ between runs
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
            yield stream


def _rows(trace: Trace, block: int) -> Iterator[dict[str, Any]]:
    times = None if trace.arrival_seconds is None else trace.arrival_seconds.tolist()
    lengths, outputs = trace.prompt_tokens.tolist(), trace.output_tokens.tolist()
    sessions, labels = trace.session.tolist(), trace.label.tolist()
    blocks = _Blocks(trace, block)
    for at, leaf in enumerate(trace.leaf.tolist()):
        row: dict[str, Any] = {}
        if times is not None:
            row["timestamp"] = _milliseconds(times[at])
        row |= {"input_length": lengths[at], "output_length": outputs[at]}
        if sessions[at] != NO_SESSION:
            row["session_id"] = sessions[at]
        if labels[at] != NO_LABEL:
            row["label"] = trace.labels[labels[at]]
        yield row | {"hash_ids": blocks.ids(leaf), "block_size": block}


def _milliseconds(seconds: float) -> msgspec.Raw:
    """Return a time as a JSON number in milliseconds, with exactly the digits of the seconds."""
    written = format(Decimal(repr(seconds)).scaleb(3).normalize(), "f")
    return msgspec.Raw(written.encode())


class _Blocks:
    """Numbering of the blocks of a prefix tree, in the order in which they first occur."""

    def __init__(self, trace: Trace, block: int) -> None:
        self._parent = trace.tree.parent.tolist()
        self._whole = (trace.tree.stop // block).tolist()  # whole blocks down to each node's end
        self._partial = (trace.tree.stop % block > 0).tolist()
        self._first = [-1] * trace.tree.nodes  # number of the first block that ends in the node
        self._tail: dict[int, int] = {}  # number of the partial last block, by leaf
        self._used = 0

    def ids(self, leaf: int) -> list[int]:
        """Return the block numbers of the prompt that ends at node `leaf`."""
        path = []
        node = leaf
        while node:
            path.append(node)
            node = self._parent[node]
        ids: list[int] = []
        for node in reversed(path):
            count = self._whole[node] - self._whole[self._parent[node]]
            if self._first[node] < 0:
                self._first[node] = self._take(count)
            ids.extend(range(self._first[node], self._first[node] + count))
        if self._partial[leaf]:
            if leaf not in self._tail:
                self._tail[leaf] = self._take(1)
            ids.append(self._tail[leaf])
        return ids

    def _take(self, count: int) -> int:
        first = self._used
        self._used += count
        return first

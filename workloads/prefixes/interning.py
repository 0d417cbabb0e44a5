"""Interning of prefix keys: rows of keys become a prefix tree, in numpy, without a block loop.

A row is a prompt as keys. A key identifies the whole prefix up to and including its run of tokens,
so equal keys mean equal prefixes. Keys are numbered in the order in which they first occur. The
only child of a key at which no prompt diverges or ends then always has the next number, so that
every run of the tree is a run of consecutive numbers and no pointers need to be followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import PrefixTree
from workloads.prefixes.numbering import leading_runs, name_prefixes, number, predecessors

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Stops = Callable[[Int32], Int64]  # index of a key's first occurrence -> end of its run in tokens


@dataclass(frozen=True, slots=True, eq=False)
class Interned:
    """A prefix tree and the node at which each row ends.

    Parameters
    ----------
    tree
        Prefix tree of all prompts.
    leaf
        int32, shape (rows,): the node at which each prompt ends.
    content_keys
        Whether keys identified the content of single blocks rather than prefixes.
    after
        int32, shape (rows,): the node at which each answer ends, -1 if unknown; None if no
        answer is known.
    """

    tree: PrefixTree
    leaf: Int32
    content_keys: bool = False
    after: Int32 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Runs of keys that end where prompts diverge or end, in order of first occurrence."""

    up: Int32  # the run above, -1 for none
    stop: Int64  # tokens from the start of the prompt to its end
    first: Int64  # index of its last key's first occurrence
    inner: NDArray[np.bool_]  # whether some prompt continues after it
    last: Int64  # per row: the run of the row's last key, -1 for a row without keys


def intern_blocks(
    keys: NDArray[np.uint64], offsets: Int64, prompt_tokens: Int64, block: int
) -> Interned:
    """Intern prompts given as keys of blocks.

    Key `k` of a row ends at `min((k + 1) * block, prompt_tokens)`. A row whose keys cover less than
    its prompt gets a tail that nothing can match. If the keys turn out to identify the content of a
    block rather than a prefix, prefix keys are derived from them.

    Parameters
    ----------
    keys
        Shape (keys,): all rows, concatenated.
    offsets
        Shape (rows + 1,): row `i` is `keys[offsets[i]:offsets[i + 1]]`.
    prompt_tokens
        Shape (rows,), at least 1, and beyond the start of the row's last block.
    block
        Tokens per block.

    Returns
    -------
    The tree, and the leaf of each row: it stops at `prompt_tokens`.
    """
    ids, first = number(keys)
    del keys  # the longest column; frees it if the caller kept no reference
    content = not name_prefixes(ids, first, offsets)
    if content:
        ids, first = number(leading_runs(ids, offsets))

    def stops(at: Int32) -> Int64:
        row = np.searchsorted(offsets, at, side="right") - 1
        return (at - offsets[row] + 1) * block

    return _intern(ids, first, stops, offsets, prompt_tokens, content)


def intern_runs(keys: NDArray[np.uint64], stops: Int64, offsets: Int64) -> Interned:
    """Intern prompts given as keys of runs of any length.

    A row may start with any key of an earlier row, in the middle of that prompt too: a later turn
    need not list the keys of its context again.

    Parameters
    ----------
    keys
        Shape (keys,): all rows, concatenated; equal keys must mean equal prefixes.
    stops
        Shape (keys,): tokens from the start of the prompt at which each run ends.
    offsets
        Shape (rows + 1,): row `i` is `keys[offsets[i]:offsets[i + 1]]`, never empty.
    """
    ids, first = number(keys)
    return _intern(ids, first, stops.__getitem__, offsets, stops[offsets[1:] - 1], content=False)


def intern_pieces(keys: Int64, stops: Int64, offsets: Int64, prompt_tokens: Int64) -> Interned:
    """Intern prompts given as keys of runs; they may end within their last run or after it.

    If the keys turn out to identify the content of a run rather than a prefix, prefix keys are
    derived from them.

    Parameters
    ----------
    keys
        Shape (keys,): all rows, concatenated; the runs of equal keys are equally long.
    stops
        Shape (keys,): tokens from the start of the prompt at which each run would end in full.
    offsets
        Shape (rows + 1,): row `i` is `keys[offsets[i]:offsets[i + 1]]`, empty for none.
    prompt_tokens
        Shape (rows,), at least 1, and beyond the start of the row's last run.
    """
    ids, first = number(keys)
    content = not name_prefixes(ids, first, offsets)
    if content:
        ids, first = number(leading_runs(ids, offsets))
    return _intern(ids, first, stops.__getitem__, offsets, prompt_tokens, content)


def _intern(
    ids: Int32, first: Int32, stops: Stops, offsets: Int64, prompt_tokens: Int64, content: bool
) -> Interned:
    runs = _merge_runs(ids, first, stops, offsets)
    parent, stop, leaf = _split_runs(runs, offsets, prompt_tokens)
    start = np.zeros(len(parent) + 1, dtype=np.int64)
    start[1:] = np.where(parent > 0, stop[parent - 1], 0)
    tree = PrefixTree(
        parent=np.concatenate([[-1], parent]).astype(np.int32),
        start=start,
        stop=np.concatenate([[0], stop]).astype(np.int64),
    )
    return Interned(tree, leaf.astype(np.int32), content)


def _merge_runs(ids: Int32, first: Int32, stops: Stops, offsets: Int64) -> _Runs:
    """Merge keys into runs that end where prompts diverge or a row ends."""
    above = predecessors(ids, first, offsets)
    count = len(first)
    numbers = np.arange(count, dtype=np.int32)
    child = np.full(count + 1, -1, dtype=np.int32)  # the last entry belongs to the root, -1
    child[above] = numbers
    inner = child[:count] >= 0
    kept = np.zeros(count + 1, dtype=np.bool_)
    kept[above[child[above] != numbers]] = True
    full = offsets[1:] > offsets[:-1]
    ends = ids[offsets[1:][full] - 1]
    kept[ends] = True
    kept = kept[:count]
    run_of = np.cumsum(kept, dtype=np.int32) - 1  # of a kept key
    tails = np.flatnonzero(kept)
    heads = np.concatenate([[0], tails[:-1] + 1]) if len(tails) else tails
    higher = above[heads]
    last = np.full(len(offsets) - 1, -1, dtype=np.int64)
    last[full] = run_of[ends]
    up = np.where(higher >= 0, run_of[higher], np.int32(-1)).astype(np.int32)
    return _Runs(up, stops(first[tails]), first[tails].astype(np.int64), inner[tails], last)


def _split_runs(
    runs: _Runs, offsets: Int64, prompt_tokens: Int64
) -> tuple[Int64, Int64, NDArray[np.int64]]:
    """Split runs wherever a row ends inside one, and add tails for tokens without a key.

    Returns parent and stop of every node below the root (numbered from 1), and each row's leaf.
    """
    known = runs.last >= 0
    reach = np.where(known, runs.stop[runs.last] if len(runs.stop) else 0, 0)
    base = int(max(prompt_tokens.max(initial=0), runs.stop.max(initial=0))) + 1
    place = np.maximum(runs.last, 0) * base + np.minimum(prompt_tokens, reach)
    inner = np.flatnonzero(runs.inner)
    pieces = np.unique(np.concatenate([place[known], inner * base + runs.stop[inner]]))
    run, stop = pieces // base, pieces % base
    deepest = np.searchsorted(run, np.arange(len(runs.up)), side="right") - 1
    up = runs.up[run]
    parent = np.where(up >= 0, deepest[up] + 1, 0) if len(run) else run
    again = np.flatnonzero(run[1:] == run[:-1]) + 1
    parent[again] = again
    leaf = np.where(known, np.searchsorted(pieces, place) + 1, 0)
    tailed = np.flatnonzero(prompt_tokens > reach)
    if not len(tailed) and not len(again):
        return parent, stop, leaf
    appearance = np.concatenate([2 * runs.first[run], 2 * offsets[tailed + 1] - 1])
    parent = np.concatenate([parent, leaf[tailed]])
    stop = np.concatenate([stop, prompt_tokens[tailed]])
    leaf[tailed] = len(pieces) + 1 + np.arange(len(tailed))
    return merge_chains(*_reorder(parent, stop, leaf, np.argsort(appearance, kind="stable")))


def _reorder(
    parent: Int64, stop: Int64, leaf: Int64, order: Int64
) -> tuple[Int64, Int64, NDArray[np.int64]]:
    """Renumber nodes so that node `order[i] + 1` becomes node `i + 1`."""
    renamed = np.zeros(len(order) + 1, dtype=np.int64)
    renamed[order + 1] = np.arange(1, len(order) + 1)
    return renamed[parent[order]], stop[order], renamed[leaf]


def merge_chains(parent: Int64, stop: Int64, leaf: Int64) -> tuple[Int64, Int64, NDArray[np.int64]]:
    """Merge each node that has a single child and ends no prompt into that child."""
    kept = np.bincount(parent, minlength=len(parent) + 1) != 1
    kept[leaf] = True
    kept[0] = True
    above = np.concatenate([[0], parent])
    target = np.where(kept, np.arange(len(kept)), above)
    while not kept[target].all():  # pointer jumping: each round doubles the distance
        target = target[target]
    renamed = np.cumsum(kept) - 1
    below = np.flatnonzero(kept)[1:]
    return renamed[target[above[below]]], stop[below - 1], renamed[leaf]

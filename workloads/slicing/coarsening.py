"""Coarsening of a trace: overlaps rounded down to larger blocks."""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from workloads.prefixes.prompt_tree import PromptTree, numbered
from workloads.slicing.keeping import kept

Int64 = NDArray[np.int64]


def coarsened(trace: Trace, block: int) -> Trace:
    """Return the same requests with overlaps rounded down to blocks of `block` tokens.

    Prompts share whole blocks only, as in a cache of such blocks. A partial last block belongs to
    its prompt alone and continues into the answer where that is known. Equal prompts without
    answers stay equal.

    Parameters
    ----------
    trace
        A trace with at least one request, whose granularity divides `block`.
    """
    grown, upper = _whole_blocks(trace.tree, block)
    tails: dict[int, int] = {}

    def end_of(node: int) -> int:
        """Return the new node for the end of a prompt or answer that ended at `node`."""
        if node not in tails:
            tails[node] = grown.extend(upper[node], int(trace.tree.stop[node]) % block)
        return tails[node]

    after = trace.leaf if trace.after is None else trace.after
    lengths = trace.prompt_tokens.tolist()
    for leaf, end, length in zip(trace.leaf.tolist(), after.tolist(), lengths, strict=True):
        bottom = end_of(end if end >= 0 else leaf)
        grown.add(grown.cut(bottom, length), bottom if end >= 0 else -1)
    return _with_tree(trace, grown, block)


def _whole_blocks(tree: PrefixTree, block: int) -> tuple[PromptTree, list[int]]:
    """Return the tree of whole blocks, and for each old node the last new node on its path."""
    whole = tree.stop // block > tree.start // block
    upper = list(range(tree.nodes))
    parent = tree.parent.tolist()
    for node in np.flatnonzero(~whole).tolist():
        upper[node] = upper[parent[node]] if node else node
    above = np.array(upper)[tree.parent]
    above[0] = -1
    stop = tree.stop - tree.stop % block
    grown = PromptTree(block, array("q", above.tolist()), array("q", stop.tolist()))
    return grown, upper


def _with_tree(trace: Trace, grown: PromptTree, block: int) -> Trace:
    leaf, after = (np.frombuffer(column, dtype=np.int64) for column in (grown.leaf, grown.after))
    ends = np.stack([leaf, np.where(after >= 0, after, leaf)], axis=1).ravel()
    tree, numbers = numbered(grown.parent, grown.stop, ends.tolist())
    coarse = replace(
        trace,
        tree=tree,
        leaf=numbers[leaf],
        after=None
        if trace.after is None
        else np.where(after >= 0, numbers[after], np.int32(-1)).astype(np.int32),
        granularity=block,
    )
    return kept(coarse, np.arange(len(trace)))

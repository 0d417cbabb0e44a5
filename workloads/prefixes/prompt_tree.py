"""A prefix tree that a reader extends directly, where it knows which prompt continues which.

A file of sessions states how much of the context a prompt keeps and how much is new. That is a tree
already, so no keys are needed to find common prefixes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT, PrefixTree
from workloads.prefixes.interning import Interned
from workloads.prefixes.numbering import Int64


@dataclass(slots=True)
class PromptTree:
    """Prompts that continue each other, exact to the token (one of the `Prompts` classes).

    `leaf` and `after` are, for each row, the nodes at which its prompt and its answer end. `parent`
    and `stop` are, for each node, its parent and its end in tokens from the root.
    """

    granularity: int = 1
    parent: array[int] = field(default_factory=lambda: array("q", [-1]))
    stop: array[int] = field(default_factory=lambda: array("q", [0]))
    leaf: array[int] = field(default_factory=lambda: array("q"))
    after: array[int] = field(default_factory=lambda: array("q"))

    def extend(self, node: int, tokens: int) -> int:
        """Return the node that ends `tokens` new tokens after `node`; `node` itself for 0."""
        return self._new(node, self.stop[node] + tokens) if tokens else node

    def cut(self, node: int, depth: int) -> int:
        """Return the node that ends at `depth` on the path to `node`, splitting a node if needed.

        A split node keeps its number and its end; the new node is its upper part.
        """
        below = ROOT
        while self.stop[node] > depth:
            below, node = node, self.parent[node]
        if self.stop[node] == depth:
            return node
        upper = self._new(node, depth)
        self.parent[below] = upper
        return upper

    def add(self, leaf: int, after: int) -> None:
        """Add a row whose prompt ends at node `leaf` and whose answer ends at node `after`."""
        self.leaf.append(leaf)
        self.after.append(after)

    def intern(self, prompt_tokens: Int64, order: Int64 | None) -> Interned:
        """Return the prefix tree, with nodes numbered in the order in which rows reach them."""
        leaf = np.frombuffer(self.leaf, dtype=np.int64)
        after = np.frombuffer(self.after, dtype=np.int64)
        if order is not None:
            leaf, after = leaf[order], after[order]
        ends = np.stack([leaf, after], axis=1).ravel().tolist()
        tree, numbers = numbered(self.parent, self.stop, ends)
        return Interned(tree, numbers[leaf], after=numbers[after])

    def _new(self, parent: int, stop: int) -> int:
        self.parent.append(parent)
        self.stop.append(stop)
        return len(self.parent) - 1


def numbered(
    parent: Sequence[int], stop: Sequence[int], ends: Sequence[int]
) -> tuple[PrefixTree, NDArray[np.int32]]:
    """Return a tree with its nodes numbered in the order in which paths to `ends` reach them.

    Returns the new number of each node too; nodes on no such path are dropped and have -1.
    """
    renamed = [-1] * len(parent)
    renamed[ROOT] = ROOT
    kept = [ROOT]
    for end in ends:
        path = []
        node = end
        while renamed[node] < 0:
            path.append(node)
            node = parent[node]
        for passed in reversed(path):
            renamed[passed] = len(kept)
            kept.append(passed)
    numbers = np.array(renamed, dtype=np.int32)
    stops = np.array(stop, dtype=np.int64)[kept]
    parents = numbers[np.array(parent, dtype=np.int64)[kept]]
    parents[ROOT] = -1
    return PrefixTree(parents, np.concatenate([[0], stops[parents[1:]]]), stops), numbers

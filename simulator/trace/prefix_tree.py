"""The prefix tree of all prompts of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class PrefixTree:
    """All distinct prompts of a trace, as a radix tree whose token ids were dropped.

    Node `i` holds the tokens `(start[i], stop[i]]`, counted from the start of the prompt. Nodes are
    split only where prompts diverge or end, so every prompt is the path from the root to one node,
    its *leaf*. (A leaf has children if longer prompts continue this one.) Node 0 is the root, which
    holds no token. Parents precede their children.

    Parameters
    ----------
    parent
        int32, shape (nodes,): the parent of each node, -1 for the root.
    start, stop
        int64, shape (nodes,): the tokens of each node.
    """

    parent: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """The number of nodes, including the root."""
        return len(self.parent)

    def problem(self) -> str | None:
        """Return a description of the first violated invariant, or None if the tree is valid."""
        if not len(self.parent) == len(self.start) == len(self.stop) >= 1:
            return "the columns of the prefix tree differ in length"
        if (self.parent[ROOT], self.start[ROOT], self.stop[ROOT]) != (-1, 0, 0):
            return "the first node of the prefix tree is not a root"
        parent = self.parent[1:]
        if not (parent >= 0).all() or not (parent < np.arange(1, self.nodes)).all():
            return "a parent in the prefix tree does not stand before its child"
        if not (self.start[1:] == self.stop[parent]).all():
            return "a node of the prefix tree does not start where its parent stops"
        if not (self.start[1:] < self.stop[1:]).all():
            return "a node of the prefix tree holds no token"
        return None

    def path(self, node: int) -> list[int]:
        """Return the nodes on the path from the root to `node`, without the root."""
        path: list[int] = []
        while node != ROOT:
            path.append(node)
            node = int(self.parent[node])
        return path[::-1]

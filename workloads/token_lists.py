"""Token lists to an interned prefix tree, exact to the token.

Sorted lists have their common prefixes between neighbours, so that a single pass over the sorted
lists builds the tree (a Cartesian tree of the lengths of those common prefixes).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.prefix_tree import PrefixTree
from workloads.interning import Interned

Tokens = NDArray[np.int32]


def intern_token_lists(
    prompts: Sequence[Tokens], with_answer: Sequence[Tokens | None] = ()
) -> Interned:
    """Intern prompts, and prompts with their answers.

    Parameters
    ----------
    prompts
        int32 ids, none negative, at least one a prompt.
    with_answer
        For each prompt the same and the answer behind it, None where it is not known; an empty
        sequence where none is.

    Returns
    -------
    The tree, its nodes numbered in the order in which prompts (and then their answers) first
    reach them; the leaf of each prompt; and the node at which each answer ends, -1 where unknown.
    """
    known = [at for at, tokens in enumerate(with_answer) if tokens is not None]
    lists = [*prompts, *(tokens for tokens in with_answer if tokens is not None)]
    nodes = _Nodes()
    texts = [tokens.astype(">u4").tobytes() for tokens in lists]  # big endian sorts as numbers
    order = sorted(range(len(lists)), key=texts.__getitem__)
    ends = nodes.add_all(lists, order)
    tree, renamed = nodes.tree(_arrival(len(prompts), known, ends))
    leaf = renamed[ends[: len(prompts)]]
    after = None
    if known:
        after = np.full(len(prompts), -1, dtype=np.int32)
        after[known] = renamed[ends[len(prompts) :]]
    return Interned(tree, leaf, after=after)


def _arrival(count: int, known: Sequence[int], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ends in the order in which they come up: each answer after its prompt."""
    place = np.concatenate([2 * np.arange(count), 2 * np.asarray(known, dtype=np.int64) + 1])
    return ends[np.argsort(place, kind="stable")]


def common_prefix(one: Tokens, other: Tokens) -> int:
    """Return how many tokens two lists share at their starts."""
    length = min(len(one), len(other))
    at, step = 0, 256
    while at < length:  # steps grow, so that a short common prefix of long lists costs little
        end = min(at + step, length)
        differs = np.flatnonzero(one[at:end] != other[at:end])
        if len(differs):
            return at + int(differs[0])
        at, step = end, 4 * step
    return length


class _Nodes:
    """The tree while it grows, along the path of the last list added."""

    def __init__(self) -> None:
        self.parent = [-1]
        self.stop = [0]

    def add_all(self, lists: Sequence[Tokens], order: Sequence[int]) -> NDArray[np.int64]:
        """Add lists in sorted `order`; return the node at which each ends."""
        ends = np.zeros(len(lists), dtype=np.int64)
        path = [0]
        before: Tokens = np.zeros(0, dtype=np.int32)
        for at in order:
            tokens = lists[at]
            shared = common_prefix(before, tokens)
            self._retreat(path, shared)
            if len(tokens) > shared:
                path.append(self._new(path[-1], len(tokens)))
            ends[at] = path[-1]
            before = tokens
        return ends

    def _retreat(self, path: list[int], depth: int) -> None:
        """Go back along `path` to `depth`, splitting the node that reaches beyond it."""
        below = -1
        while self.stop[path[-1]] > depth:
            below = path.pop()
        if self.stop[path[-1]] < depth:
            upper = self._new(path[-1], depth)
            self.parent[below] = upper
            path.append(upper)

    def _new(self, parent: int, stop: int) -> int:
        self.parent.append(parent)
        self.stop.append(stop)
        return len(self.parent) - 1

    def tree(self, ends: NDArray[np.int64]) -> tuple[PrefixTree, NDArray[np.int32]]:
        """Return the tree with nodes numbered as `ends` reach them, and the new numbers."""
        renamed = [-1] * len(self.parent)
        renamed[0] = 0
        old = [0]
        for end in ends.tolist():
            path = []
            while renamed[end] < 0:
                path.append(end)
                end = self.parent[end]  # noqa: PLW2901  (a walk towards the root)
            for node in reversed(path):
                renamed[node] = len(old)
                old.append(node)
        stop = np.array(self.stop, dtype=np.int64)[old]
        numbers = np.array(renamed, dtype=np.int32)
        parent = numbers[np.array(self.parent, dtype=np.int64)[old]]
        parent[0] = -1
        start = np.concatenate([[0], stop[parent[1:]]])
        return PrefixTree(parent, start, stop), numbers

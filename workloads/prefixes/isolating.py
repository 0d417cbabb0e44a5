"""Isolation of prefixes: prompts with different keys (such as salts) share no node.

Prompts are interned first as if only tokens mattered. Then each key gets a copy of the paths of its
prompts, and runs that were split only for prompts of other keys are merged again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT, PrefixTree
from workloads.prefixes.interning import Interned, merge_chains
from workloads.prefixes.numbering import Int64


def isolated(interned: Interned, groups: Int64) -> Interned:
    """Return the prompts such that those of different groups share no node.

    Parameters
    ----------
    interned
        Prompts interned by their tokens alone.
    groups
        Shape (rows,), at least 0: the group of each row; rows of one group share what they did.
    """
    copies = _Copies(interned.tree.parent.tolist(), int(groups.max(initial=0)) + 1)
    after = interned.after
    answers = np.full(len(groups), -1) if after is None else after
    leaf, ends = np.empty(len(groups), np.int64), np.full(len(groups), -1, np.int64)
    for row, (node, answer, group) in enumerate(_rows(interned.leaf, answers, groups)):
        leaf[row] = copies.of(node, group)
        if answer >= 0:
            ends[row] = copies.of(answer, group)
    if not copies.shared:
        return interned
    return _joined(interned, copies, leaf, ends)


def _rows(*columns: NDArray[np.integer]) -> Iterator[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in columns), strict=True)


@dataclass(slots=True)
class _Copies:
    """The copies of nodes made for each group, numbered in the order in which they are made."""

    parent: list[int]
    groups: int
    above: list[int] = field(default_factory=lambda: [-1])  # the parent of each copy
    source: list[int] = field(default_factory=lambda: [ROOT])  # the node that each copies
    known: dict[int, int] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)  # the group that first reached a node
    shared: bool = False

    def of(self, node: int, group: int) -> int:
        """Return a group's copy of a node; missing copies of it and its ancestors are created."""
        path = []
        while node != ROOT and node * self.groups + group not in self.known:
            path.append(node)
            node = self.parent[node]
        copy = ROOT if node == ROOT else self.known[node * self.groups + group]
        for passed in reversed(path):
            self.shared |= self.owner.setdefault(passed, group) != group
            self.above.append(copy)
            self.source.append(passed)
            copy = len(self.above) - 1
            self.known[passed * self.groups + group] = copy
        return copy


def _joined(interned: Interned, copies: _Copies, leaf: Int64, ends: Int64) -> Interned:
    """Return the copies as a tree, merging chains where no prompt of the group diverges or ends."""
    answered = ends >= 0
    parent, stop, places = merge_chains(
        np.array(copies.above[1:], dtype=np.int64),
        interned.tree.stop[copies.source[1:]],
        np.concatenate([leaf, ends[answered]]),
    )
    above = np.concatenate([[0], stop])[parent]
    tree = PrefixTree(
        parent=np.concatenate([[-1], parent]).astype(np.int32),
        start=np.concatenate([[0], above]).astype(np.int64),
        stop=np.concatenate([[0], stop]).astype(np.int64),
    )
    after = None
    if interned.after is not None:
        after = np.full(len(leaf), -1, dtype=np.int32)
        after[answered] = places[len(leaf) :]
    return Interned(tree, places[: len(leaf)].astype(np.int32), interned.content_keys, after)

"""The law of overlaps on a prefix tree, reduced to the candidates for checkpoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.placement.holding import paths
from policies.placement.support import Potential, Support, tokens
from simulator.trace.grid import Grid
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

START = -1  # the parent of candidates with none above them: the free state before the first token


@dataclass(frozen=True, slots=True, eq=False)
class TreeLaw:
    """Candidates for checkpoints on a tree, parents before children.

    A checkpoint serves every overlap that ends at it or below it and has no deeper one on its
    way. With W(c) the weight of the overlaps at and below c, a set C saves, by summation by parts
    on the tree,

        S(C) = sum over c in C of (G(c) - G(nearest member of C above c, or 0)) W(c).

    Parameters
    ----------
    parent
        int32, shape (n,): the next candidate above, START for none; below the own index.
    potentials
        float64, shape (n,): G(position) - G(0), positive, greater than that of the parent.
    subtree
        float64, shape (n,): W, positive.
    nodes
        int32, shape (n,): the node of the prefix tree in which the candidate lies.
    positions
        int64, shape (n,): tokens from the start of the prompt.
    """

    parent: NDArray[np.int32]
    potentials: NDArray[np.float64]
    subtree: NDArray[np.float64]
    nodes: NDArray[np.int32]
    positions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parent)

    def saving(self, chosen: NDArray[np.bool_]) -> float:
        """Return S(C) for a mask of shape (n,)."""
        total = 0.0
        near = [0.0] * (len(self) + 1)  # the last one is START's
        rows = zip(
            self.parent.tolist(),
            self.potentials.tolist(),
            self.subtree.tolist(),
            chosen.tolist(),
            strict=True,
        )
        for i, (parent, gain, weight, taken) in enumerate(rows):
            near[i] = gain if taken else near[parent]
            if taken:
                total += (gain - near[parent]) * weight
        return total


def chain_law(support: Support) -> TreeLaw:
    """Return the tree that is one prompt: the support of a law of depths."""
    size = len(support)
    return TreeLaw(
        np.arange(-1, size - 1, dtype=np.int32),
        support.potentials,
        support.survival,
        np.zeros(size, np.int32),
        support.depths,
    )


def tree_law(
    parent: NDArray[np.int32],
    potentials: NDArray[np.float64],
    weights: NDArray[np.float64],
    nodes: NDArray[np.int32] | None = None,
    positions: NDArray[np.int64] | None = None,
) -> TreeLaw:
    """Return the law of candidates with the weight of the overlaps that end at each.

    Candidates that no overlap needs (W = 0) are left out; nothing with weight lies below them.

    Parameters
    ----------
    parent, potentials
        As in TreeLaw.
    weights
        float64, shape (n,), finite, non-negative.
    nodes, positions
        As in TreeLaw; the index and 0 where None.

    Raises
    ------
    ValueError
        Where parents do not stand before children, potentials do not rise from a parent to its
        child, or a weight is negative or not finite.
    """
    size = len(parent)
    _check(parent, potentials, weights)
    subtree = weights.astype(np.float64).tolist()
    above = parent.tolist()
    for i in range(size - 1, -1, -1):
        if above[i] != START:
            subtree[above[i]] += subtree[i]
    total = np.array(subtree, np.float64)
    keep = total > 0
    number = np.append(np.cumsum(keep, dtype=np.int32) - 1, START)
    nodes = np.arange(size, dtype=np.int32) if nodes is None else nodes
    positions = np.zeros(size, np.int64) if positions is None else positions
    return TreeLaw(
        number[parent[keep]].astype(np.int32),
        potentials[keep].astype(np.float64),
        total[keep],
        nodes[keep],
        positions[keep],
    )


def law_of_trace(trace: Trace, grid: Grid, potential: Potential = tokens) -> TreeLaw:
    """Return the law of the overlaps of a trace: what each request could save.

    A request is one overlap, at the deepest position of the grid that it shares with an earlier
    one and that is not beyond its last token but one. Every candidate lies on the path of an
    earlier request than those it serves, whose prefill passed it, so any set of candidates can
    be written in time where each request is served before the next arrives.

    Where prompts diverge, the second one has its overlap: so the candidates of all overlaps hold
    every branch point as well, and some optimal set lies on them.
    """
    counts = _overlap_counts(trace, grid)
    ordered = sorted(counts)  # parents stand before children in a prefix tree
    nodes = np.array([node for node, _ in ordered], np.int32)
    positions = np.array([position for _, position in ordered], np.int64)
    gains = potential(np.concatenate(([0], positions)))
    return tree_law(
        _parents(trace.tree.parent.tolist(), ordered),
        gains[1:] - gains[0],
        np.array([counts[key] for key in ordered], np.float64),
        nodes,
        positions,
    )


def _overlap_counts(trace: Trace, grid: Grid) -> dict[tuple[int, int], int]:
    """Return the number of overlaps at each (node, position), misses left out."""
    tree = trace.tree
    parent, start, stop = tree.parent.tolist(), tree.start.tolist(), tree.stop.tolist()
    seen = bytearray(tree.nodes)
    seen[ROOT] = 1
    counts: dict[tuple[int, int], int] = {}
    for prompt, answer in paths(trace):
        leaf = node = prompt[-1]
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
        for generated in answer:
            seen[generated] = 1
        position = grid.floor(min(stop[node], stop[leaf] - 1))
        while start[node] >= position > 0:
            node = parent[node]
        if position:
            counts[node, position] = counts.get((node, position), 0) + 1
    return counts


def _parents(above: list[int], ordered: list[tuple[int, int]]) -> NDArray[np.int32]:
    """Return the candidate above each of `ordered`, which are sorted (node, position) pairs."""
    deepest: dict[int, int] = {}  # node -> its last candidate
    parents = np.empty(len(ordered), np.int32)
    for i, (node, _) in enumerate(ordered):
        holder = node
        while holder not in deepest and holder != ROOT:
            holder = above[holder]
        parents[i] = deepest.get(holder, START)
        deepest[node] = i
    return parents


def _check(
    parent: NDArray[np.int32], potentials: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    if not len(parent) == len(potentials) == len(weights):
        raise ValueError("parent, potentials and weights: expected columns of one length")
    if (parent < START).any() or (parent >= np.arange(len(parent))).any():
        raise ValueError("parent: expected each to stand before its child")
    above = np.append(potentials, 0.0)[parent]
    if not (np.isfinite(potentials) & (potentials > above)).all():
        raise ValueError("potentials: expected finite numbers that rise from parent to child")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("weights: expected finite, non-negative numbers")

"""Exact placement of a number of checkpoints on a small tree, by dynamic programming."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.placement.tree_law import START, TreeLaw

Float = NDArray[np.float64]


def exact_cells(law: TreeLaw, budget: int) -> int:
    """Return the additions that `exact_tree` would make."""
    depth = _depths(law.parent.tolist())
    return int(sum(depth) + len(depth)) * (min(budget, len(law)) + 1) ** 2


def exact_tree(law: TreeLaw, budget: int) -> NDArray[np.bool_]:
    """Return a best set, a mask of shape (n,), of at most `budget` checkpoints.

    For each candidate and each nearest checkpoint above it, the best saving of the subtree for
    every number of checkpoints; siblings share a number by max-plus convolution. Unlike on a
    single prompt, the greatest saving need not be concave in the budget: one checkpoint above
    three branches may save more than one in a branch, two little more than one, and three, one
    in each branch, much more. O(budget^2) times the sum of all depths.

    Parameters
    ----------
    law
        The candidates.
    budget
        Checkpoints, 0 or more.
    """
    size, width = len(law), min(budget, len(law)) + 1
    parent = law.parent.tolist()
    depth = _depths(parent)
    path = _path_potentials(law, depth)
    # Row j of inner[i]: the best of all below i when the nearest checkpoint is the j-th of the
    # path to i (0: none, the last: i itself). parts[i]: each child with the rows before it.
    inner = [np.zeros((depth[i] + 2, width)) for i in range(size)]
    top = np.zeros((1, width))
    parts: list[list[tuple[int, Float]]] = [[] for _ in range(size + 1)]
    value: list[Float] = []
    for i in range(size - 1, -1, -1):
        with_i = np.full((depth[i] + 1, width), -np.inf)
        gain = (law.potentials[i] - path[i]) * law.subtree[i]
        with_i[:, 1:] = gain[:, None] + inner[i][-1, :-1]
        value.append(np.maximum(inner[i][:-1], with_i))
        above = parent[i]
        before = top if above == START else inner[above]
        parts[above].append((i, before))
        after = _convolved(before, value[-1])
        if above == START:
            top = after
        else:
            inner[above] = after
    value.reverse()
    chosen = np.zeros(size, np.bool_)
    pending = [(START, 0, width - 1)]
    while pending:
        above, row, left = pending.pop()
        for i, before in reversed(parts[above]):
            # Children are unwound in the reverse order of joining: each leaves the rest of the
            # number to those joined before it.
            used = int((before[row, left::-1] + value[i][row, : left + 1]).argmax())
            left -= used
            taken = used > 0 and value[i][row, used] > inner[i][row, used]
            chosen[i] = taken
            pending.append((i, depth[i] + 1, used - 1) if taken else (i, row, used))
    return chosen


def _depths(parent: list[int]) -> list[int]:
    """Return the number of candidates above each."""
    depth: list[int] = []
    for above in parent:
        depth.append(0 if above == START else depth[above] + 1)
    return depth


def _path_potentials(law: TreeLaw, depth: list[int]) -> list[Float]:
    """Return, for each candidate, 0 and the potentials of those above it, from the top."""
    path: list[Float] = []
    for i, above in enumerate(law.parent.tolist()):
        if above == START:
            path.append(np.zeros(1))
        else:
            path.append(np.append(path[above], law.potentials[above]))
        assert len(path[i]) == depth[i] + 1
    return path


def _convolved(one: Float, other: Float) -> Float:
    """Return, row by row, the maximum of one[s] + other[k - s] over s, for each k."""
    result = one + other[:, :1]
    for k in range(1, one.shape[1]):
        np.maximum(result[:, k:], one[:, :-k] + other[:, k : k + 1], out=result[:, k:])
    return result

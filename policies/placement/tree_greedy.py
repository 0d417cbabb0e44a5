"""Greedy placement on a tree, starting from a given set of checkpoints."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from policies.placement.tree_law import START, TreeLaw


def extended_greedily(law: TreeLaw, chosen: NDArray[np.bool_], budget: int) -> NDArray[np.bool_]:
    """Add checkpoints one by one, each adding most to what those before it save.

    The gain of c is (G(c) - G(nearest checkpoint above)) times the weight at and below c that no
    chosen checkpoint below it serves. It never rises when more are chosen (the saving is monotone
    and submodular), so the largest of old gains, looked at again, is the largest if it still is:
    lazy greedy (Minoux 1978). From the empty set it keeps 1 - 1/e of the optimum (Nemhauser,
    Wolsey and Fisher 1978).

    Parameters
    ----------
    law
        The candidates.
    chosen
        bool, shape (n,): those that are there.
    budget
        Checkpoints in all.
    """
    state = _State(law, chosen)
    heap = [(-state.gain(i), i) for i in range(len(law)) if not state.chosen[i]]
    heapify(heap)
    left = budget - int(chosen.sum())
    while left > 0 and heap:
        _, i = heappop(heap)
        gain = state.gain(i)
        if heap and -heap[0][0] > gain:
            heappush(heap, (-gain, i))
            continue
        if gain <= 0.0:
            break
        state.add(i)
        left -= 1
    return np.array(state.chosen, np.bool_)


class _State:
    """The nearest checkpoint above each candidate, and the weight that is not served below it."""

    def __init__(self, law: TreeLaw, chosen: NDArray[np.bool_]) -> None:
        size = len(law)
        self.chosen: list[bool] = [False] * size
        self._parent: list[int] = law.parent.tolist()
        self._gains: list[float] = law.potentials.tolist()
        self._weight: list[float] = law.subtree.tolist()
        self._near = [0.0] * size
        self._children: list[list[int]] = [[] for _ in range(size)]
        for i, above in enumerate(self._parent):
            if above != START:
                self._children[above].append(i)
        for i in np.flatnonzero(chosen).tolist():
            self.add(i)

    def gain(self, i: int) -> float:
        """Return what choosing `i` would add."""
        return (self._gains[i] - self._near[i]) * self._weight[i]

    def add(self, i: int) -> None:
        """Choose `i`."""
        above, weight = self._parent[i], self._weight[i]
        while above != START:
            self._weight[above] -= weight
            if self.chosen[above]:
                break
            above = self._parent[above]
        self.chosen[i] = True
        pending = list(self._children[i])
        while pending:
            c = pending.pop()
            self._near[c] = self._gains[i]
            if not self.chosen[c]:
                pending += self._children[c]

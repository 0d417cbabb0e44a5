"""Random trees, and brute force over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.placement.tree_law import TreeLaw, tree_law


def random_tree(rng: np.random.Generator, largest: int = 8) -> TreeLaw:
    """Return up to `largest` candidates; ties and candidates without overlaps among them."""
    size = int(rng.integers(1, largest + 1))
    parent = np.array([int(rng.integers(-1, i)) if i else -1 for i in range(size)], np.int32)
    if rng.random() < 0.2:
        parent = np.arange(-1, size - 1, dtype=np.int32)
    potentials = np.zeros(size + 1)
    for i, above in enumerate(parent):
        potentials[i] = potentials[above] + (0.5 if rng.random() < 0.3 else rng.integers(1, 5))
    weights = rng.choice([0.0, 1.0, 1.0, 2.0, float(rng.random())], size)
    return tree_law(parent, potentials[:-1], weights)


def by_definition(law: TreeLaw, chosen: tuple[int, ...]) -> float:
    """Return what each overlap saves at the deepest checkpoint on its way, one by one."""
    own = law.subtree.copy()
    for i, above in enumerate(law.parent):
        if above >= 0:
            own[above] -= law.subtree[i]
    total = 0.0
    for i, weight in enumerate(own.tolist()):
        node = i
        while node != -1 and node not in chosen:
            node = int(law.parent[node])
        total += weight * (law.potentials[node] if node != -1 else 0.0)
    return total


def savings_of_all_sets(law: TreeLaw) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what each set of candidates saves, and its size; set s holds i where bit i is set."""
    sets = np.arange(2 ** len(law))
    reached = np.zeros((len(law) + 1, len(sets)))  # the deepest checkpoint's potential; last: START
    own = law.subtree.copy()
    for i, above in enumerate(law.parent.tolist()):
        reached[i] = np.where(sets >> i & 1, law.potentials[i], reached[above])
        if above >= 0:
            own[above] -= law.subtree[i]
    return own @ reached[:-1], np.bitwise_count(sets).astype(np.int64)


def number_of(chosen: NDArray[np.bool_]) -> int:
    """Return the number of a set."""
    return sum(1 << i for i in np.flatnonzero(chosen).tolist())


def numbers(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())

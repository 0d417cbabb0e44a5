"""Random trees, and brute force over them."""

from __future__ import annotations

from itertools import combinations

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


def savings_of_all_sets(law: TreeLaw) -> list[list[float]]:
    """Return the savings of all sets, by their size."""
    everything = range(len(law))
    return [
        [by_definition(law, chosen) for chosen in combinations(everything, size)]
        for size in range(len(law) + 1)
    ]


def numbers(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())

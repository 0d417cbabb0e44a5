"""Random token ids for a trace, which has none; equal prefixes get equal ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import PrefixTree


class TokenIds:
    """Random token ids for every node of a prefix tree.

    Parameters
    ----------
    tree
        The prefix tree of the prompts.
    vocabulary
        Number of distinct ids.
    seed
        Seed; the same seed gives the same ids.
    """

    def __init__(self, tree: PrefixTree, vocabulary: int, seed: int) -> None:
        self._tree = tree
        self._vocabulary = vocabulary
        self._seed = seed

    def prompt(self, node: int) -> NDArray[np.int64]:
        """Return the token ids of the prompt that ends at `node`: int64, shape (tokens,)."""
        path = self._tree.path(node)
        return np.concatenate([self._run(below) for below in path])

    def _run(self, node: int) -> NDArray[np.int64]:
        """Return the token ids of one node."""
        tokens = int(self._tree.stop[node] - self._tree.start[node])
        seed = np.random.SeedSequence(self._seed, spawn_key=(node,))
        return np.random.default_rng(seed).integers(self._vocabulary, size=tokens)

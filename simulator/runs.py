"""The KV runs of a prefix tree, made when a prompt first passes through them."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.entry import Checkpoint, KvRun
from simulator.prefix_tree import ROOT, PrefixTree


class Runs:
    """Looks up the run of a node.

    The root's run holds one virtual position, 0, and there the free state before the first
    token: so a walk towards the root always ends at something resident and at a checkpoint.
    """

    def __init__(self, tree: PrefixTree) -> None:
        # A memoryview gives plain ints several times faster than a numpy array does.
        self._parent = tree.parent.data
        self._stop = tree.stop.data
        self._runs: list[KvRun | None] = [None] * tree.nodes
        self.root = KvRun(None, -1, 0)
        self.root.seen = self.root.done = True
        self.root.pins = 1  # never evicted
        self.root.kv_end = self.root.kv_admitted_end = 0
        origin = Checkpoint(self.root, 0, 0)
        origin.pins = 1
        self.root.add(origin)
        self._runs[ROOT] = self.root

    def at(self, node: int) -> KvRun:
        """Return the run of `node`, making it and those above it if need be."""
        run = self._runs[node]
        return run if run is not None else self._make(node)

    def _make(self, node: int) -> KvRun:
        missing = []
        run = None
        while run is None:
            missing.append(node)
            node = self._parent[node]
            run = self._runs[node]
        for below in reversed(missing):
            run = KvRun(run, run.stop, self._stop[below], below)
            self._runs[below] = run
        return run

    def clear(self) -> None:
        """Break the circle between runs and their checkpoints, so that all can be freed at once.

        Otherwise they stay until the cycle collector has searched through all of them.
        """
        for run in self:
            run.checkpoints = ()

    def __iter__(self) -> Iterator[KvRun]:
        """Yield the runs that exist, below the root, parents before children."""
        return (run for run in self._runs[1:] if run is not None)

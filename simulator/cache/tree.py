"""The KV runs of a cache: one for all that a prompt brings, cut where later ones leave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simulator.plugins.entries import Checkpoint, KvRun
from simulator.trace.prefix_tree import ROOT, PrefixTree


class Runs:
    """Finds the run that ends at a node of the prefix tree, and makes or cuts it where need be.

    The nodes of the tree end where any two prompts of the whole trace diverge; the runs end only
    where that has been seen. So a run covers a chain of nodes, and is split when a request comes
    that diverges or ends inside it. The lower part stays the same object, since leaves and
    running requests refer to the bottom of a run.

    The root's run holds one virtual position, 0, and there the free state before the first
    token: so a walk towards the root always ends at something resident and at a checkpoint.

    Parameters
    ----------
    tree
        The prompts.
    on_split
        Called with the upper and the lower part of a run that has just been split.
    foresee
        End a run at every node at once, wherever prompts will diverge: for an eviction policy
        that looks ahead.
    """

    def __init__(
        self, tree: PrefixTree, on_split: Callable[[KvRun, KvRun], None], *, foresee: bool = False
    ) -> None:
        self.tree = tree
        # A memoryview gives plain ints several times faster than a numpy array does.
        self._parent = tree.parent.data
        self._stop = tree.stop.data
        self._on_split = on_split
        self._foresee = foresee
        self._runs: list[KvRun | None] = [None] * tree.nodes  # that which covers each node
        # In the order in which they lie in memory: looking at them all takes half the time so.
        self._made: list[KvRun] = []
        self.root = KvRun(None, -1, 0)
        self.root.done = True
        self.root.pins = 1  # never evicted
        self.root.kv_end = self.root.kv_admitted_end = 0
        origin = Checkpoint(self.root, 0, 0)
        origin.pins = 1
        self.root.add(origin)
        self._runs[ROOT] = self.root

    def at(self, node: int, request: int) -> KvRun:
        """Return the run that ends with `node`, now that `request` comes this way."""
        run = self._runs[node]
        return run if run is not None and run.node == node else self._make(node, request)

    def _make(self, node: int, request: int) -> KvRun:
        runs, parent = self._runs, self._parent
        missing = []
        above = node
        run = runs[above]
        while run is None:
            missing.append(above)
            above = parent[above]
            run = runs[above]
        if run.node != above:
            run = self._split(run, above)
        if not self._foresee:
            return self._add(run, missing, request) if missing else run
        for below in reversed(missing):
            run = self._add(run, [below], request)
        return run

    def _add(self, above: KvRun, nodes: list[int], request: int) -> KvRun:
        """Put one run over `nodes`, the deepest first, below another."""
        above.children_seen += 1
        run = KvRun(above, above.stop, self._stop[nodes[0]], nodes[0], request)
        self._made.append(run)
        for node in nodes:
            self._runs[node] = run
        return run

    def _split(self, lower: KvRun, node: int) -> KvRun:
        """Cut a run behind one of its nodes; return the upper part."""
        upper = lower.cut(self._stop[node], node)
        self._made.append(upper)
        while self._runs[node] is lower:
            self._runs[node] = upper
            node = self._parent[node]
        self._on_split(upper, lower)
        return upper

    def covering(self) -> list[KvRun | None]:
        """Return the run that covers each node, None where none has been passed."""
        return self._runs

    def clear(self) -> None:
        """Break the circle between runs and their checkpoints, so that all can be freed at once.

        Otherwise they stay until the cycle collector has searched through all of them.
        """
        for run in self:
            run.checkpoints = ()

    def __iter__(self) -> Iterator[KvRun]:
        """Yield the runs that exist, below the root, as they were made."""
        return iter(self._made)

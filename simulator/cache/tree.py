"""The KV spans of a cache: one for all that a prompt brings, cut where later ones leave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simulator.plugins.entries import NO_CHECKPOINTS, Checkpoint, KvSpan
from simulator.trace.prefix_tree import ROOT, PrefixTree


class KvTree:
    """Finds the span that ends at a node of the prefix tree, and makes or cuts it where need be.

    The nodes of the tree end where any two prompts of the whole trace diverge; the spans end only
    where that has been seen. So a span covers a chain of nodes, and is split when a request comes
    that diverges or ends inside it. The lower part stays the same object, since leaves and
    running requests refer to the bottom of a span.

    The root's span holds one virtual position, 0, and there the free state before the first
    token: so a walk towards the root always ends at something resident and at a checkpoint.

    Parameters
    ----------
    tree
        The prompts.
    on_split
        Called with the upper and the lower part of a span that has just been split.
    foresee
        End a span at every node at once, wherever prompts will diverge: for an eviction policy
        that looks ahead.
    """

    def __init__(
        self, tree: PrefixTree, on_split: Callable[[KvSpan, KvSpan], None], *, foresee: bool = False
    ) -> None:
        self.prefixes = tree
        # A memoryview gives plain ints several times faster than a numpy array does.
        self._parent = tree.parent.data
        self._stop = tree.stop.data
        self._on_split = on_split
        self._foresee = foresee
        # The span that ends with each node that has been passed; within a span, its mark. That is
        # a span too: a split so marks the nodes of the smaller part alone. No other has the mark.
        self._spans: list[KvSpan | None] = [None] * tree.nodes
        self._marked: dict[KvSpan, KvSpan] = {}  # by mark, where a span is not its own
        # In the order in which they lie in memory: looking at them all takes half the time so.
        self.made: list[KvSpan] = []
        self.root = KvSpan(None, -1, 0)
        self.root.pins = 1  # never evicted
        self.root.kv_end = self.root.kv_admitted_end = self.root.done_end = 0
        origin = Checkpoint(self.root, 0, 0)
        origin.pins = 1
        self.root.add(origin)
        self._spans[ROOT] = self.root

    def at(self, node: int, request: int) -> KvSpan:
        """Return the span that ends with `node`, now that `request` comes this way."""
        span = self._spans[node]
        return span if span is not None and span.node == node else self._make(node, request)

    def _make(self, node: int, request: int) -> KvSpan:
        spans, parent = self._spans, self._parent
        missing = []
        above = node
        while (span := spans[above]) is None:
            missing.append(above)
            above = parent[above]
        if span.node != above:
            span = self._split(span, above)
        if not self._foresee:
            return self._add(span, missing, request) if missing else span
        for below in reversed(missing):
            span = self._add(span, [below], request)
        return span

    def _add(self, above: KvSpan, nodes: list[int], request: int) -> KvSpan:
        """Put one span over `nodes`, the deepest first, below another."""
        above.children_seen += 1
        span = KvSpan(above, above.stop, self._stop[nodes[0]], nodes[0], request)
        self.made.append(span)
        for node in nodes:
            self._spans[node] = span
        return span

    def _split(self, mark: KvSpan, node: int) -> KvSpan:
        """Cut the span with this mark behind one of its nodes; return the upper part."""
        spans, parent = self._spans, self._parent
        lower = self._marked.get(mark, mark)
        upper = spans[node] = lower.cut(self._stop[node], node)
        self.made.append(upper)
        first, last = parent[node], upper.parent.node  # the upper part's nodes lie from there
        above, below = first, parent[lower.node]
        while above != last and below != node:
            above, below = parent[above], parent[below]
        if above != last:  # the lower part has fewer
            self._marked[mark], self._marked[upper] = upper, lower
            first, last = parent[lower.node], node
        while first != last:
            spans[first] = upper
            first = parent[first]
        self._on_split(upper, lower)
        return upper

    def covering(self, node: int) -> KvSpan | None:
        """Return the span that covers a node, None where none has been passed."""
        span = self._spans[node]
        if span is None or span.node == node:
            return span
        return self._marked.get(span, span)

    def clear(self) -> None:
        """Break the circle between spans and their checkpoints, so that all can be freed at once.

        Otherwise they stay until the cycle collector has searched through all of them.
        """
        for span in self:
            span.checkpoints = NO_CHECKPOINTS
        self.made = []
        self._spans = []

    def __iter__(self) -> Iterator[KvSpan]:
        """Yield the spans that exist, below the root, as they were made."""
        return iter(self.made)

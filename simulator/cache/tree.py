"""The tree of KV spans: built as prompts arrive, split where later prompts diverge."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simulator.plugins.entries import NO_CHECKPOINTS, Checkpoint, KvSpan
from simulator.trace.prefix_tree import ROOT, PrefixTree


class KvTree:
    """The KV spans of a cache, arranged as a radix tree.

    A KV span is the KV of consecutive tokens without a known divergence of prompts. The trace's
    prefix tree knows where prompts of the whole trace diverge; the cache must not. So a span covers
    a chain of prefix-tree nodes and is split only when a request arrives that diverges or ends
    inside it. On a split the lower part remains the same object, because leaves and running
    requests refer to the lower end of a span.

    The root span has one virtual position, 0, with a free state before the first token. So a walk
    towards the root always ends at resident KV and at a checkpoint.

    Parameters
    ----------
    tree
        The prefix tree of all prompts of the trace.
    on_split
        Called with the upper and the lower part after a span was split.
    foresee
        Make one span per prefix-tree node from the start, as if all divergences were known: for
        clairvoyant eviction policies.
    """

    def __init__(
        self, tree: PrefixTree, on_split: Callable[[KvSpan, KvSpan], None], *, foresee: bool = False
    ) -> None:
        self.prefixes = tree
        # Reading an int from a memoryview is several times faster than from a numpy array.
        self._parent = tree.parent.data
        self._stop = tree.stop.data
        self._on_split = on_split
        self._foresee = foresee
        # By node: the span that ends there, or for other nodes inside a span the span's mark:
        # itself or a former part of it. Thanks to marks a split relabels only its smaller part.
        self._spans: list[KvSpan | None] = [None] * tree.nodes
        self._marked: dict[KvSpan, KvSpan] = {}  # spans by mark, if the mark is another span
        # In order of creation, which is their order in memory: iterating takes half the time.
        self.made: list[KvSpan] = []
        self.root = KvSpan(None, -1, 0)
        self.root.pins = 1  # never evicted
        self.root.kv_end = self.root.kv_admitted_end = self.root.done_end = 0
        origin = Checkpoint(self.root, 0, 0)
        origin.pins = 1
        self.root.add(origin)
        self._spans[ROOT] = self.root

    def at(self, node: int, request: int) -> KvSpan:
        """Return the KV span that ends at a prefix-tree node, after creating or splitting spans.

        `request` is the request on whose behalf spans are created.
        """
        span = self._spans[node]
        return span if span is not None and span.node == node else self._make(node, request)

    def _make(self, node: int, request: int) -> KvSpan:
        """Create or split KV spans so that one ends at a prefix-tree node; return it."""
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
        """Create one KV span over a chain of prefix-tree nodes (deepest first), below `above`."""
        above.children_seen += 1
        span = KvSpan(above, above.stop, self._stop[nodes[0]], nodes[0], request)
        self.made.append(span)
        for node in nodes:
            self._spans[node] = span
        return span

    def _split(self, mark: KvSpan, node: int) -> KvSpan:
        """Split a KV span after a prefix-tree node; return the upper part.

        `mark` identifies the span, see `_spans`.
        """
        spans, parent = self._spans, self._parent
        lower = self._marked.get(mark, mark)
        upper = spans[node] = lower.cut(self._stop[node], node)
        self.made.append(upper)
        first, last = parent[node], upper.parent.node  # ends of the upper part's nodes
        above, below = first, parent[lower.node]
        while above != last and below != node:
            above, below = parent[above], parent[below]
        if above != last:  # the lower part has fewer nodes
            self._marked[mark], self._marked[upper] = upper, lower
            first, last = parent[lower.node], node
        while first != last:
            spans[first] = upper
            first = parent[first]
        self._on_split(upper, lower)
        return upper

    def covering(self, node: int) -> KvSpan | None:
        """Return the KV span that covers a prefix-tree node; None if no prompt has passed it."""
        span = self._spans[node]
        if span is None or span.node == node:
            return span
        return self._marked.get(span, span)

    def clear(self) -> None:
        """Break reference cycles between KV spans and checkpoints, to free them at once.

        Otherwise they stay allocated until the cyclic garbage collector runs.
        """
        for span in self:
            span.checkpoints = NO_CHECKPOINTS
        self.made = []
        self._spans = []

    def __iter__(self) -> Iterator[KvSpan]:
        """Yield all KV spans except the root, in order of creation."""
        return iter(self.made)


def mark_done(span: KvSpan, upto: int) -> None:
    """Record that the tokens up to `upto`, which lies in `span`, have been computed."""
    if span.done_end < upto:
        span.done_end = upto
        span = span.parent
        while span.done_end < span.stop:
            span.done_end = span.stop
            span = span.parent


def span_holding(span: KvSpan, position: int) -> KvSpan:
    """Return the KV span that contains token `position`, on the path from `span` to the root."""
    while span.start >= position:
        span = span.parent
    return span

"""Bare KV: KV behind the last state of a path, from which no prompt can resume."""

from __future__ import annotations

from collections import OrderedDict

from policies.orders.outlook import Outlook
from simulator.plugins.entries import Checkpoint, KvSpan


class BareKv:
    """Spans that end in KV behind their last state, in the order in which they came to do so.

    A span that is in use again, or was shortened to its last state, keeps its place until it is
    the first. `policy_data` of a span is its place, if it has one. `spans` is public for the hot
    loop of the policy: by place, ascending. With `all_kv`, for a pool of KV alone, every span
    counts as bare.
    """

    __slots__ = ("_place", "all_kv", "spans")

    def __init__(self) -> None:
        self._place = 0
        self.all_kv = False
        self.spans: OrderedDict[int, KvSpan] = OrderedDict()

    def offer(self, span: KvSpan) -> None:
        """Put a span at the end if it is bare; it loses its old place."""
        before = span.policy_data
        if before:
            del self.spans[before]
        if span.size_bytes and not span.children_resident and self.is_bare(span, span.checkpoints):
            self._place = place = self._place + 1
            self.spans[place] = span
            span.policy_data = place
        else:
            span.policy_data = None

    def is_bare(self, span: KvSpan, states: list[Checkpoint]) -> bool:
        """Say whether a span ends in KV behind the last of `states`, which are its own."""
        return not states or self.all_kv or states[-1].position < span.kv_end

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give `upper` the place of `lower` if all KV of the span lies in `upper`."""
        place = lower.policy_data
        if place and not lower.size_bytes:
            self.spans[place] = upper
            upper.policy_data, lower.policy_data = place, None


class BareView:
    """A view of bare KV from which spans leave in advance; the order itself does not change.

    Parameters
    ----------
    bare
        The order.
    outlook
        Says which entries could be evicted.
    """

    __slots__ = ("_bare", "_coming", "_freed", "_outlook")

    def __init__(self, bare: BareKv, outlook: Outlook) -> None:
        self._bare = bare
        self._coming = iter(bare.spans.values())
        self._freed: dict[KvSpan, None] = {}  # what has become bare in this view
        self._outlook = outlook

    def take(self) -> KvSpan | None:
        """Return the first span whose end could be evicted, and move past it."""
        for span in self._coming:
            if span not in self._freed and self._is_bare(span):
                return span
        for span in self._freed:
            del self._freed[span]
            return span
        return None

    def offer(self, span: KvSpan | None) -> None:
        """Put a span at the end if it is bare."""
        if span is not None and self._is_bare(span):
            self._freed[span] = None

    def _is_bare(self, span: KvSpan) -> bool:
        if not span.size_bytes or not self._outlook.evictable(span):
            return False
        return self._bare.is_bare(span, self._outlook.states_of(span))

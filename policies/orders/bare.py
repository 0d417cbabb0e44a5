"""KV that nothing can resume behind."""

from __future__ import annotations

from collections import OrderedDict

from policies.orders.outlook import Outlook
from simulator.plugins.entries import Checkpoint, KvSpan


class BareKv:
    """Spans that end in KV behind their last state, in the order in which they came to.

    One that comes to be used, or is shortened to its last state, keeps its place until it is the
    first. `policy_data` of a span is its place, if it has one. `spans` are public for the hot loop
    of the policy: by place, ascending. With `all_kv` states do not matter: they are ordered
    elsewhere.
    """

    __slots__ = ("_place", "all_kv", "spans")

    def __init__(self) -> None:
        self._place = 0
        self.all_kv = False
        self.spans: OrderedDict[int, KvSpan] = OrderedDict()

    def offer(self, span: KvSpan) -> None:
        """Put a span at the end if it is bare; it loses the place that it had."""
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
        """Give `upper` the place of `lower` if all KV lies above now."""
        place = lower.policy_data
        if place and not lower.size_bytes:
            self.spans[place] = upper
            upper.policy_data, lower.policy_data = place, None


class BareView:
    """Goes through bare KV ahead of time; the order itself stays as it is.

    Parameters
    ----------
    bare
        The order.
    outlook
        Says what could go.
    """

    __slots__ = ("_bare", "_coming", "_freed", "_outlook")

    def __init__(self, bare: BareKv, outlook: Outlook) -> None:
        self._bare = bare
        self._coming = iter(bare.spans.values())
        self._freed: dict[KvSpan, None] = {}  # what came to lie bare since
        self._outlook = outlook

    def take(self) -> KvSpan | None:
        """Return the first span of which the end could go, and pass it."""
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

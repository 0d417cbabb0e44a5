"""Base class of eviction policies that weigh states, and let KV leave with the states it serves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from policies.eviction.prefixed import PrefixEviction
from policies.orders.bare import BareKv, BareView
from policies.orders.lineage import Lineage, takes_kv
from policies.orders.outlook import Outlook
from simulator.plugins.context import SPAN, CacheContext
from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class StatesFirst(PrefixEviction):
    """Evicts KV that no state needs, then the state of least worth with the KV that it alone needs.

    A subclass keeps the order of the states: it is told when one is stored, may be evicted again
    or has left, and to weigh one anew (`_note`) since the KV or the states beside it have changed.
    """

    spares_states: ClassVar[bool] = True
    foresees_all: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.orders_kv = True
        self._orders_states = self._cuts_to_state = True
        self._kv_bytes = 1
        self._bare = BareKv()
        self._lineage = Lineage()

    def begin(self, context: CacheContext) -> None:
        """Read sizes, and which entries the pool has."""
        super().begin(context)
        self._kv_bytes = context.sizes.kv_bytes_per_token
        self.orders_kv, self._orders_states = context.orders_kv, context.orders_states
        self._bare.all_kv = not context.orders_states
        self._cuts_to_state = context.orders_states and context.cut != SPAN

    # --- the states, as a subclass orders them ------------------------------------------------

    @abstractmethod
    def _add(self, state: Checkpoint) -> None:
        """Add a new state, which is not in the lineage yet."""

    @abstractmethod
    def _use(self, state: Checkpoint) -> None:
        """Note that a request has resumed from a state."""

    @abstractmethod
    def _reopen(self, state: Checkpoint) -> None:
        """Make a state a candidate again that was in use."""

    @abstractmethod
    def _forget(self, state: Checkpoint) -> None:
        """Forget a state that has left, and take it out of the lineage."""

    @abstractmethod
    def _note(self, state: Checkpoint) -> None:
        """Weigh a state anew before the next decision, if the policy was told of it."""

    @abstractmethod
    def _least(self) -> Checkpoint | None:
        """Return the evictable state of least worth."""

    @abstractmethod
    def _in_order(self, outlook: Outlook) -> Iterator[Checkpoint]:
        """Yield the states that could be evicted, by their present worth."""

    # --- entries ------------------------------------------------------------------------------

    def on_insert(self, entry: Entry) -> None:
        """Add it; a state is weighed before the next decision."""
        if isinstance(entry, KvSpan):
            if not entry.children_resident:
                self._bare.offer(entry)
            self._note_last(entry.parent)  # the KV that can leave with its last state has changed
        else:
            self._add(entry)

    def on_hit(self, entry: Entry) -> None:
        """Note a use."""
        if not isinstance(entry, KvSpan):
            self._use(entry)
        elif not entry.children_resident:
            self._bare.offer(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again."""
        if isinstance(entry, KvSpan):
            self._bare.offer(entry)
            self._note_last(entry)  # its KV can leave with its last state now
        else:
            self._reopen(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it; the KV before a state may be needed by no other."""
        if isinstance(entry, KvSpan):
            if entry.policy_data:
                del self._bare.spans[entry.policy_data]
                entry.policy_data = None
            return
        self._forget(entry)
        span = entry.span
        if span.size_bytes and self.orders_kv:
            self._bare.offer(span)
            self._note_last(span)

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Update which state lies next above which."""
        self._lineage.split(upper, lower)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the place of the whole."""
        if self._orders_states:
            self._lineage.split(upper, lower)
        if upper.size_bytes:
            self._bare.split(upper, lower)
            self._note_last(upper)  # other KV leaves with its last state now
            self._note_last(lower)

    def _note_last(self, span: KvSpan) -> None:
        """Weigh the last state of a span anew, since the KV that leaves with it has changed."""
        if self._orders_states and span.checkpoints:
            self._note(span.checkpoints[-1])

    def _takes_kv(self, state: Checkpoint) -> bool:
        return self.orders_kv and takes_kv(state)

    # --- what leaves --------------------------------------------------------------------------

    def victim(self) -> Entry | None:
        """Return KV that saves nothing, else the state of least worth, or the KV it ends."""
        spans = self._bare.spans
        while spans:
            span = next(iter(spans.values()))
            blocked = span.pins or span.children_resident
            if not blocked and self._bare.is_bare(span, span.checkpoints):
                return span
            del spans[span.policy_data]  # in use, or shortened to its last state
            span.policy_data = None
        least = self._least()
        return least.span if least is not None and self._takes_kv(least) else least

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, by their present worth.

        It changes when a state above or below leaves, which is not foreseen.
        """
        outlook = Outlook()
        bare = BareView(self._bare, outlook)
        states = self._in_order(outlook)
        while True:
            span = bare.take()
            if span is not None:
                yield span
                if self._cuts_to_state and outlook.states_of(span):
                    continue  # only the KV behind the last one has left
                bare.offer(outlook.let_go(span))
            elif (state := next(states, None)) is not None:
                entry = outlook.with_kv(state) if self.orders_kv else state
                yield entry
                bare.offer(outlook.let_go(entry))
            else:
                return

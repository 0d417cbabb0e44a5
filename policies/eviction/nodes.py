"""Base class of policies that weigh the recency of states against their worth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

from policies.eviction.prefixed import PrefixEviction
from policies.orders.candidates import Candidates, Merged
from policies.orders.lineage import Lineage, takes_kv
from policies.orders.outlook import Outlook
from policies.orders.shortlist import KnownState
from policies.orders.stateless import Stateless
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import Overlap


class NodeEviction(PrefixEviction):
    """Evicts the node of least recency + worth, each scaled by its range among the candidates.

    A node is a state with the KV between it and the next state above. Candidates are nodes with
    at most one child. One without a child leaves with its KV, from the end, with what lies behind
    the state first; of one with a child only the state leaves, and its KV counts for the child
    from then on. KV of a span without any state saves nothing, and goes before all nodes, by last
    use: for a model without states, or in a pool of KV alone, this is LRU. Where KV has no bytes,
    or in a pool of states alone, all states are candidates.

    A subclass says what a node is worth (`worth`, which may change only with the state above it),
    how its last use counts (`recency`), and the weights of both.
    """

    foresees_all: ClassVar[bool] = False
    recency_weight: float = 1.0
    worth_weight: float = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._state_bytes = self._kv_bytes = 1
        self._orders_kv = self._orders_states = True
        self._now = self._age = 0  # requests; nodes so far
        self.asked = False  # whether a victim was ever asked for
        self._candidates = Candidates(self.recency)
        self._stateless = Stateless()
        self._lineage = Lineage()

    @abstractmethod
    def worth(self, start: int, stop: int) -> float:
        """Return what the state at `stop` is worth, the next one above lying at `start`."""

    @abstractmethod
    def recency(self, last: Any, now: int) -> Any:
        """Return how a last use by request `last` counts at `now`: a number, or an array of them.

        It must not be negative, grow with `last`, and not grow with `now`.
        """

    def begin(self, context: CacheContext) -> None:
        """Read the sizes, and what the pool holds."""
        super().begin(context)
        self._state_bytes = context.sizes.state_bytes
        self._kv_bytes = context.sizes.kv_bytes_per_token if context.orders_kv else 0
        self._orders_kv, self._orders_states = context.orders_kv, context.orders_states
        self._stateless.all_kv = not context.orders_states

    def observe(self, overlap: Overlap) -> None:
        """Count the request."""
        self._now += 1

    def on_insert(self, entry: Entry) -> None:
        """Add a new node."""
        if isinstance(entry, KvSpan):
            entry.rank = self._now
            self._stateless.offer(entry)
            above = entry.parent.checkpoints
            if above:
                self._note_children(above[-1], entry.parent.children_resident)
            return
        if self._orders_kv:
            entry.span.policy_data = None  # the span now has a state
        self._age += 1
        entry.policy_data = KnownState(entry, self._now, self._age)
        for changed in self._lineage.add(entry):
            self._price(changed)
        self._price(entry)
        self._open(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        if not isinstance(entry, KvSpan):
            self._candidates.use(entry.policy_data, self._now)
            return
        entry.rank = self._now
        if not entry.children_resident:
            self._stateless.offer(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, unless it has more than one child."""
        if isinstance(entry, KvSpan):
            self._stateless.offer(entry)
        else:
            self._open(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it, and price the states next to it anew."""
        node, entry.policy_data = entry.policy_data, None
        if isinstance(entry, KvSpan):
            above = entry.parent.checkpoints
            if above:
                self._note_children(above[-1], entry.parent.children_resident - 1)
            return
        self._candidates.close(node)
        for changed in self._lineage.remove(entry):
            self._price(changed)
        if self._orders_kv:
            self._stateless.offer(entry.span)

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Update which state lies next above which."""
        self._lineage.split(upper, lower)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the last use of the whole."""
        if self._orders_states:
            self._lineage.split(upper, lower)
        upper.rank = lower.rank
        for span in (upper, lower):
            span.policy_data = None
            self._stateless.offer(span)
        states = upper.checkpoints
        if states and self._kv_bytes:
            self._note_children(states[-1], upper.children_resident)

    def victim(self) -> Entry | None:
        """Return KV without a state, else the state of least score, or the KV that ends in it."""
        self.asked = True
        span = self._stateless.least() if self._stateless.places else None
        if span is not None:
            return span
        candidates = self._candidates
        while node := candidates.least(self._now, self.recency_weight, self.worth_weight):
            if node.entry.evictable:
                takes = self._orders_kv and takes_kv(node.entry)
                return node.entry.span if takes else node.entry
            candidates.set_aside(node)  # in use
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, the states by their present scores."""
        victim = self.victim()
        if victim is not None:
            yield victim
            yield from islice(self._foreseen(), 1, None)

    def _foreseen(self) -> Iterator[Entry]:
        """Yield the next victims in order; for the first alone, `victim` is quicker."""
        outlook, candidates = Outlook(), self._candidates
        stateless = self._stateless.view(outlook)
        weights = self._now, self.recency_weight, self.worth_weight
        states = Merged(candidates.by_score(*weights))
        while (entry := stateless.head() or self._next_of(states, outlook)) is not None:
            yield entry
            freed = outlook.let_go(entry)
            span = entry.span if isinstance(entry, Checkpoint) else freed
            if self._orders_kv and span is not None and not outlook.states_of(span):
                stateless.on_evictable(span)
            above = outlook.states_of(entry.parent)[-1:] if isinstance(entry, KvSpan) else ()
            for state in above if self._orders_states else ():  # it may have become a candidate
                node = state.policy_data
                if node is not None and node.place < 0 and _has_one_child(state, outlook):
                    states.put((candidates.score_of(node, *weights), node.age, node))

    def _next_of(self, states: Merged, outlook: Outlook) -> Entry | None:
        """Take the state of least score that can leave; return it, or the span to evict with it."""
        while (node := states.take()) is not None:
            if outlook.evictable(node.entry):
                return outlook.with_kv(node.entry) if self._orders_kv else node.entry
        return None

    def _price(self, checkpoint: Checkpoint) -> None:
        start = self._lineage.above[checkpoint]
        self._candidates.price(checkpoint.policy_data, self.worth(start, checkpoint.position))

    def _open(self, state: Checkpoint) -> None:
        """Make a state a candidate if it has at most one child."""
        span = state.span
        if span.children_resident <= 1 or state.position < span.stop or not self._kv_bytes:
            self._candidates.open(state.policy_data)

    def _note_children(self, last: Checkpoint, children: int) -> None:
        """Let the last state of a span be a candidate, unless it has more than one child."""
        node = last.policy_data
        if self._orders_states and last.position == last.span.stop and node is not None:
            (self._candidates.open if children <= 1 else self._candidates.close)(node)


def _has_one_child(state: Checkpoint, outlook: Outlook) -> bool:
    return outlook.children_of(state.span) <= 1 or state.position < state.span.stop

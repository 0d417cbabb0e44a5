"""Thin out the states of old paths where that costs least."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.prefixed import PrefixEviction
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Coverage(PrefixEviction):
    """On the path that was not used for the longest time, drop what covers least per byte.

    Were all overlap depths equally likely, a state would save the tokens down from the state
    above it to every depth up to the next state below: dropping it costs the product of the two
    distances. As many prompts again are taken to go on from the end of the path, whatever its
    length. The last state leaves with the KV behind the state above it, which frees more bytes.
    So an old path first loses the states that its others nearly replace, and is shortened from
    its end where that is cheaper. States above the lowest fork of the path are left alone: other
    paths need them. Without KV the states leave by last use, and so does KV in a pool of its own.

    Source: none; the measure is the staircase under a uniform law of overlap depths, of which
    half the weight goes on beyond the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self._paths, self._states = Queue(), Queue()

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._list_of(entry).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._list_of(entry).touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it its place again."""
        self._list_of(entry).on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self._list_of(entry).discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Leave both parts where they stand."""
        self._paths.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return what covers least per byte on the least recent path."""
        leaf = self._paths.head()
        return self._least(leaf, Outlook()) if isinstance(leaf, KvSpan) else self._states.head()

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, each for what it covers when those before have gone."""
        outlook = Outlook()
        paths, states = QueueView(self._paths, outlook), QueueView(self._states, outlook)
        while True:
            leaf = paths.head()
            entry = self._least(leaf, outlook) if isinstance(leaf, KvSpan) else states.head()
            if entry is None:
                return
            yield entry
            paths.on_evictable(outlook.let_go(entry))

    def _least(self, leaf: KvSpan, outlook: Outlook) -> Entry:
        """Return what covers least per byte on the path to `leaf`."""
        best: Entry = leaf
        least = float("inf")
        below = 0
        alone = self.context is not None and not self.context.orders_states
        for checkpoint, above in () if alone else _own_states(leaf, outlook):
            position = checkpoint.position
            if below:
                loss = (position - above) * (below - position) / max(checkpoint.size_bytes, 1)
            else:
                loss = self._loss_of_end(leaf, position - above, checkpoint.size_bytes)
            if loss < least and (checkpoint.evictable or not below):
                best, least = (checkpoint if below else leaf), loss
            below = position
        return best

    def _loss_of_end(self, leaf: KvSpan, tokens: int, state_bytes: int) -> float:
        """Return the loss per byte of the last state of a path with the KV that it adds."""
        reach = leaf.kv_end
        kv_bytes = 1 if self.context is None else self.context.sizes.kv_bytes_per_token
        return tokens * reach / max(state_bytes + tokens * kv_bytes, 1)

    def _list_of(self, entry: Entry) -> Queue:
        return self._states if isinstance(entry, Checkpoint) else self._paths


def _own_states(leaf: KvSpan, outlook: Outlook) -> Iterator[tuple[Checkpoint, int]]:
    """Yield the states of the path to `leaf` below its lowest fork, from the deepest.

    Each comes with the position of the next one above, 0 if there is none.
    """
    span, own = leaf, True
    before: Checkpoint | None = None
    while span.stop and (own or before is not None):
        for checkpoint in reversed(outlook.states_of(span)):
            if before is not None:
                yield before, checkpoint.position
            if not own:
                return
            before = checkpoint
        span = span.parent
        own = own and outlook.children_of(span) <= 1
    if before is not None:
        yield before, 0

"""Eviction that thins out the states of the least recently used path."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from policies.eviction.prefixed import PrefixEviction
from policies.orders.inner import NEVER, InnerStates, loss_between
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Coverage(PrefixEviction):
    """On the least recently used path, drop the state whose loss per byte is least.

    If all overlap depths are equally likely, a state saves the tokens from the state above it,
    for every depth down to the next state below: dropping it costs the product of the two
    distances. Half of all prompts are assumed to continue from the end of the path. The last
    state leaves with the KV behind the state above it, which frees more bytes. So an old path
    first loses states that its other states nearly replace, and is shortened from its end where
    that is cheaper. States above the lowest fork of the path stay, since other paths need them.
    Without KV the states leave by last use, and so does KV in a pool of its own.

    Source: none; the measure is the staircase under a uniform law of overlap depths, of which
    half the weight goes on beyond the end.

    Examples
    --------
    The states at 5 and 6 nearly replace each other, so one of them leaves, and the last one stays:

    >>> from policies.tryout import serve
    >>> policies = {"placer": "offsets:start=5+6,end=0", "eviction": "coverage"}
    >>> serve(["abcdefghij", "z"], capacity_bytes=17, state_bytes=2, **policies).states
    ['abcde', 'abcdefghij', 'z']
    """

    def __init__(self) -> None:
        super().__init__()
        self._paths, self._states = Queue(), Queue()
        self._inner = InnerStates()

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._list_of(entry).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._list_of(entry).touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._list_of(entry).on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self._list_of(entry).discard(entry)
        self._inner.note_gone(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place."""
        self._paths.split(upper, lower)
        self._inner.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the entry of least loss per byte on the least recent path."""
        leaf = self._paths.head()
        if isinstance(leaf, KvSpan):
            return self._least(leaf, Outlook(), self._inner)
        return self._states.head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, each chosen as if those before had left."""
        outlook, inner = Outlook(), InnerStates()
        paths, states = QueueView(self._paths, outlook), QueueView(self._states, outlook)
        while True:
            leaf = paths.head()
            if isinstance(leaf, KvSpan):
                entry: Entry | None = self._least(leaf, outlook, inner)
            else:
                entry = states.head()
            if entry is None:
                return
            yield entry
            paths.on_evictable(outlook.let_go(entry))
            inner.note_gone(entry)

    def _least(self, leaf: KvSpan, outlook: Outlook, inner: InnerStates) -> Entry:
        """Return the entry of least loss per byte on the path to `leaf`, the deepest of several."""
        if self.context is not None and not self.context.orders_states:
            return leaf
        losses = self._losses(leaf, outlook, inner)
        return min(losses, key=itemgetter(0), default=(0.0, leaf))[1]

    def _losses(
        self, leaf: KvSpan, outlook: Outlook, inner: InnerStates
    ) -> Iterator[tuple[float, Entry]]:
        """Yield the candidates on the path to `leaf` below its lowest fork, the deepest first.

        Each comes with its loss per byte, NEVER where it is in use. Of the states that lie between
        others of their span, only that of least loss does.
        """
        below = 0  # the state next below, 0 if there is none
        first: Checkpoint | None = None  # of a span: the state above it is in another one
        span, own = leaf, True
        while span.stop and (own or first is not None):
            states = outlook.states_of(span)
            if states:
                if first is not None:
                    yield self._loss(leaf, states[-1].position, first, below)
                    below = first.position
                if not own:
                    return
                if len(states) > 1:
                    yield self._loss(leaf, states[-2].position, states[-1], below)
                    yield inner.least(span, states)
                    below = states[1].position
                first = states[0]
            span = span.parent
            own = own and outlook.children_of(span) <= 1
        if first is not None:
            yield self._loss(leaf, 0, first, below)

    def _loss(self, leaf: KvSpan, above: int, state: Checkpoint, below: int) -> tuple[float, Entry]:
        """Return the loss per byte of a state, and the entry to evict: for the last, its span."""
        if below:
            return (loss_between(above, state, below) if state.evictable else NEVER), state
        tokens = state.position - above
        kv_bytes = 1 if self.context is None else self.context.sizes.kv_bytes_per_token
        return tokens * leaf.kv_end / max(state.size_bytes + tokens * kv_bytes, 1), leaf

    def _list_of(self, entry: Entry) -> Queue:
        return self._states if isinstance(entry, Checkpoint) else self._paths

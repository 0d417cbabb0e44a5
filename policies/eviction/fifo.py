"""First in, first out."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.base import BaseEviction
from policies.orders.queue import Queue
from policies.orders.queue_view import leave_in_turn
from simulator.plugins.entries import Entry, KvSpan


class Fifo(BaseEviction):
    """Evict what entered first; hits change nothing.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("fifo", "ABC AAA D", capacity_bytes=3)  # A entered first; its hits do not count
    'A'
    """

    def __init__(self) -> None:
        self._queue = Queue()

    def on_insert(self, entry: Entry) -> None:
        """Put it last."""
        self._queue.order[entry] = self._queue.next_place()

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._queue.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        order = self._queue.order
        if entry in order:  # the common case, without a call
            del order[entry]
        else:
            self._queue.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place."""
        self._queue.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the evictable entry that entered first."""
        return self._queue.head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        return leave_in_turn([self._queue])

"""Clock: first in, first out, with a second chance."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.base import BaseEviction
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan


class ClockEviction(BaseEviction):
    """Evict what entered first, but give an entry that was hit another round.

    The hand moves when the victim is asked for: it lowers the counters of the entries that it
    passes and stops at the first whose counter is 0.

    Parameters
    ----------
    bits
        Width of the counter of hits: with 1 an entry survives once, with b at most 2^b - 1 times.

    Source: F. J. Corbato, "A paging experiment with the Multics system", MIT Project MAC report
    MAC-M-384, 1968.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("clock", "ABC A DEF", capacity_bytes=3)  # its hit saves A for one round
    'BCA'
    >>> evicted("clock:bits=2", "AB AAA CDE", capacity_bytes=2)  # three hits, for three rounds
    'BCD'
    """

    def __init__(self, bits: int = 1) -> None:
        require(1 <= bits <= 8, "bits", "1 to 8", bits)
        self._most = 2**bits - 1
        self._queue = Queue()

    def on_insert(self, entry: Entry) -> None:
        """Put it behind the hand, not yet hit."""
        entry.rank = 0
        self._queue.order[entry] = self._queue.next_place()

    def on_hit(self, entry: Entry) -> None:
        """Count the hit."""
        if entry.rank < self._most:
            entry.rank += 1

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
        """Keep both parts at their place, with the count."""
        upper.rank = lower.rank
        self._queue.split(upper, lower)

    def victim(self) -> Entry | None:
        """Move the hand to the first evictable entry whose counter is 0, and return that."""
        queue = self._queue
        order = queue.order
        while (entry := queue.head()) is not None and entry.rank:
            entry.rank -= 1
            if entry in order:  # the common case, without a call
                order.move_to_end(entry)
                order[entry] = queue.next_place()
            else:
                queue.touch(entry)
        return entry

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; only `victim` moves the hand."""
        outlook = Outlook()
        queue = QueueView(self._queue, outlook)
        hits: dict[Entry, int] = {}  # of those that the hand has passed
        while (entry := queue.head()) is not None:
            if left := hits.get(entry, entry.rank):
                hits[entry] = left - 1
                queue.touch(entry)
            else:
                yield entry
                queue.on_evictable(outlook.let_go(entry))

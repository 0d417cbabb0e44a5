"""2Q: a FIFO queue for new entries, and an LRU list for those that come back."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from policies.eviction.base import BaseEviction, incoming_spans, require_share, share_of
from policies.orders.ghosts import Ghosts
from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import ByteQueueView
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class TwoQ(BaseEviction):
    """Pass new entries through a FIFO queue; keep those that come back soon after it by LRU.

    New entries enter the queue A1in, where hits change nothing. Entries evicted from it are
    remembered in A1out; one that returns while it is remembered enters the LRU list Am. A1in
    evicts while it exceeds its share, Am otherwise.

    Parameters
    ----------
    queue
        Share of the capacity for A1in (Kin).
    memory
        What A1out remembers, as a share of the capacity (Kout); in bytes, since sizes differ.

    Source: T. Johnson and D. Shasha, "2Q: a low overhead high performance buffer management
    replacement algorithm", VLDB 1994, full version.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("two_q", "ABCD AAA EF", capacity_bytes=4)  # hits in A1in change nothing
    'AB'
    >>> evicted("two_q", "ABCD E A FGHI", capacity_bytes=4)  # A came back, and stays
    'ABCDEF'
    """

    observes: ClassVar[bool] = True

    def __init__(self, queue: float = 0.25, memory: float = 0.5) -> None:
        require_share("queue", queue)
        require(0 < memory <= 100, "memory", "a share above 0, up to 100", memory)
        self._shares = queue, memory
        self._in, self._main = ByteQueue(), ByteQueue()
        self._out = Ghosts()
        self._in_limit = float("inf")
        self._returning: set[Entry] = set()

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        queue, memory = self._shares
        self._in_limit = share_of(capacity_bytes, queue)
        self._out = Ghosts(share_of(capacity_bytes, memory))

    def observe(self, overlap: Overlap) -> None:
        """Note which spans of the prompt are remembered, before evictions add others."""
        self._returning = {span for span in incoming_spans(overlap) if self._out.take(span.key)}

    def on_miss(self, entry: Entry) -> None:
        """Note whether it is remembered, before evictions add others."""
        self._returning.clear()
        if self._out.take(entry.key):
            self._returning.add(entry)

    def on_insert(self, entry: Entry) -> None:
        """Put it into the LRU list if it is remembered, else into the queue."""
        returns = entry in self._returning or self._out.take(entry.key)
        (self._main if returns else self._in).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent, if it is in the LRU list."""
        if entry in self._main:
            self._main.touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._in.on_evictable(entry)
        self._main.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Remember it, if it comes from the queue."""
        if entry in self._in:
            self._out.add(entry.key, self._in.charged[entry])
            self._in.discard(entry)
        else:
            self._main.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, or remember both."""
        self._in.split(upper, lower)
        self._main.split(upper, lower)
        self._out.split(upper.key, lower.key)

    def victim(self) -> Entry | None:
        """Return the head of the queue while that exceeds its share, else the least recent."""
        if self._in.bytes > self._in_limit:
            return self._in.head() or self._main.head()
        return self._main.head() or self._in.head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        outlook = Outlook()
        queue, main = (ByteQueueView(part, outlook) for part in (self._in, self._main))
        while True:
            first, second = (queue, main) if queue.bytes > self._in_limit else (main, queue)
            entry = first.head() or second.head()
            if entry is None:
                return
            yield entry
            for gone in outlook.leaving(entry):
                queue.discard(gone)
            freed = outlook.let_go(entry)
            queue.on_evictable(freed)
            main.on_evictable(freed)

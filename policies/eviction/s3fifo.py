"""S3-FIFO: a small FIFO queue that filters, a main one, and ghosts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from policies.eviction.base import BaseEviction, exact, require_share, share_of
from policies.orders.ghosts import Ghosts
from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import ByteQueueView
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan

_MOST_USES = 3  # a counter of two bits


class S3Fifo(BaseEviction):
    """Three FIFO queues: a small one that filters, a main one with second chances, and ghosts.

    New entries enter the small queue. At its head, those used more than once move to the main
    queue, the others are evicted and remembered as ghosts; an entry that returns while it is
    remembered enters the main queue. At the head of the main queue each use gives another round.
    The small queue evicts while it has its share or more, else the main one.

    Parameters
    ----------
    small
        Share of the capacity for the small queue.
    memory
        What the ghost queue remembers, as a share of the capacity, in bytes.
    promote
        Uses after its arrival that take an entry from the small queue to the main one.

    Source: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023,
    algorithm 1; the ghost queue holds as much as the main queue.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("s3fifo", "A BCD EF", capacity_bytes=4)  # used once: it leaves the small queue
    'AB'
    >>> evicted("s3fifo", "AAA BCD EF", capacity_bytes=4)  # used twice more: A is in the main queue
    'BC'
    """

    def __init__(self, small: float = 0.1, memory: float = 0.9, promote: int = 2) -> None:
        require_share("small", small)
        require(0 < memory <= 100, "memory", "a share above 0, up to 100", memory)
        require(1 <= promote <= _MOST_USES, "promote", f"1 to {_MOST_USES}", promote)
        self._shares = small, memory
        self._promote = promote
        self._small, self._main = ByteQueue(), ByteQueue()
        self._small_share = float("inf")
        self._ghosts = Ghosts()
        self._chosen: Entry | None = None

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        small, memory = self._shares
        self._ghosts = Ghosts(share_of(capacity_bytes, memory))
        if capacity_bytes is not None:
            self._small_share = -share_of(capacity_bytes, -exact(small))  # rounded up

    def on_insert(self, entry: Entry) -> None:
        """Put it into the main queue if it is remembered, else into the small one."""
        entry.rank = 0
        self._chosen = None
        (self._main if self._ghosts.take(entry.key) else self._small).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Count the use."""
        if entry.rank < _MOST_USES:
            entry.rank += 1
        if entry is self._chosen:
            self._chosen = None

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._small.on_evictable(entry)
        self._main.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Remember it, if it comes from the small queue."""
        self._chosen = None
        if entry in self._small:
            self._ghosts.add(entry.key, self._small.charged[entry])
            self._small.discard(entry)
        else:
            self._main.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, or remember both."""
        upper.rank = lower.rank
        self._small.split(upper, lower)
        self._main.split(upper, lower)
        self._ghosts.split(upper.key, lower.key)

    def victim(self) -> Entry | None:
        """Return the first entry with too few uses to stay."""
        if self._chosen is None or not self._chosen.evictable:
            first, second = self._small_victim, self._main_victim
            if self._small.bytes < self._small_share:
                first, second = second, first
            self._chosen = first() or second() or first()
        return self._chosen

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; only `victim` moves entries between queues."""
        outlook = Outlook()
        small, main = (ByteQueueView(part, outlook) for part in (self._small, self._main))
        view = _View(small, main, self._promote)
        entry = self._chosen
        if entry is None or not entry.evictable:
            entry = self._foreseen(view)
        while entry is not None:
            yield entry
            for gone in outlook.leaving(entry):
                if not small.discard(gone):
                    main.discard(gone)
            freed = outlook.let_go(entry)
            small.on_evictable(freed)
            main.on_evictable(freed)
            entry = self._foreseen(view)

    def _foreseen(self, view: _View) -> Entry | None:
        """Return the next victim in `view`, and move the view on."""
        first, second = view.from_small, view.from_main
        if view.small.bytes < self._small_share:
            first, second = second, first
        return first() or second() or first()

    def _small_victim(self) -> Entry | None:
        while (entry := self._small.head()) is not None:
            if entry.rank < self._promote:
                return entry
            entry.rank = 0
            self._small.discard(entry)
            self._main.push(entry)
        return None

    def _main_victim(self) -> Entry | None:
        while (entry := self._main.head()) is not None:
            if not entry.rank:
                return entry
            entry.rank -= 1
            self._main.touch(entry)
        return None


class _View:
    """A view of the two queues and of the use counts, in which victims leave in advance."""

    __slots__ = ("main", "promote", "small", "uses")

    def __init__(self, small: ByteQueueView, main: ByteQueueView, promote: int) -> None:
        self.small, self.main, self.promote = small, main, promote
        self.uses: dict[Entry, int] = {}  # where they differ from the entry's rank

    def from_small(self) -> Entry | None:
        """Return the victim of the small queue; entries before it move to the main one."""
        while (entry := self.small.head()) is not None:
            if self.uses.get(entry, entry.rank) < self.promote:
                return entry
            self.uses[entry] = 0
            self.small.discard(entry)
            self.main.push(entry)
        return None

    def from_main(self) -> Entry | None:
        """Return the victim of the main queue; entries before it go another round."""
        while (entry := self.main.head()) is not None:
            uses = self.uses.get(entry, entry.rank)
            if not uses:
                return entry
            self.uses[entry] = uses - 1
            self.main.touch(entry)
        return None

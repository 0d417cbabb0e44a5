"""Time to live."""

from __future__ import annotations

from policies.eviction.prefixed import PrefixEviction
from policies.eviction.queue import Queue
from policies.parameters import require
from simulator.entry import Entry, KvRun
from simulator.protocols import Overlap


class Ttl(PrefixEviction):
    """Evict what entered too long ago, oldest first; while nothing has, the least recently used.

    A hit does not prolong a life: with lives that hits prolong the order would be that of `lru`.
    This orders eviction and expires nothing: what is past its life stays, and serves hits, until
    room is needed.

    Parameters
    ----------
    seconds
        Life of an entry, from its arrival. In a trace without times nothing ever expires.

    Source: V. Cate, "Alex: a global file system", USENIX File Systems Workshop 1992 (expiry by
    age), here for the order of eviction only.
    """

    def __init__(self, seconds: float = 600.0) -> None:
        super().__init__()
        require(0 < seconds < float("inf"), "seconds", "a positive number", seconds)
        self._seconds = seconds
        self._now = 0.0
        self._by_arrival, self._by_use = Queue(), Queue()

    def observe(self, overlap: Overlap) -> None:
        """Look at the clock."""
        self._now = max(self._now, overlap.now_seconds)

    def on_insert(self, entry: Entry) -> None:
        """Begin its life."""
        entry.rank = self._now
        self._by_arrival.push(entry)
        self._by_use.push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._by_use.touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it its places again."""
        self._by_arrival.on_evictable(entry)
        self._by_use.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self._by_arrival.discard(entry)
        self._by_use.discard(entry)

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Leave both parts where they stand."""
        upper.rank = lower.rank
        self._by_arrival.split(upper, lower)
        self._by_use.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the oldest entry that has expired, else the least recent."""
        oldest = self._by_arrival.head()
        if oldest is not None and self._now - oldest.rank > self._seconds:
            return oldest
        return self._by_use.head()

"""SLRU, 2Q, ARC and S3-FIFO as in libCacheSim."""

from __future__ import annotations

from typing import Any

from policies.eviction import arc, s3fifo, slru, two_q
from policies.objects.libcachesim.cache import LibPolicy
from policies.orders.ghosts import Ghosts
from simulator.plugins.entries import Entry


class LibSlru(LibPolicy, slru.Slru):
    """SLRU as in libCacheSim: segments of equal size, probation included.

    A new object enters the lowest segment that has room, and not at all if it is larger than a
    segment. Objects that overfill probation are evicted at once, so with unequal sizes some room
    stays unused.

    Parameters
    ----------
    segments
        Number of segments, probation included.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("slru:rules=libcachesim", "ABAB CDEF", capacity_bytes=4)  # 4 segments
    'AE'
    >>> evicted("slru", "ABAB CDEF", capacity_bytes=4)
    'CD'
    """

    def __init__(self, segments: int = 4) -> None:
        super().__init__(segments)

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity."""
        count = len(self.segments)
        self._limits = [capacity_bytes // count] * count

    def may_enter(self, entry: Entry) -> bool:
        """Refuse an object larger than a segment."""
        return entry.size_bytes <= self._limits[0]

    def on_insert(self, entry: Entry) -> None:
        """Put it where there is room, else on probation."""
        level = 0
        for number in reversed(range(len(self.segments))):
            if self.segments[number].bytes + entry.size_bytes <= self._limits[number]:
                level = number
        self._level[entry] = level
        self.segments[level].push(entry)

    def _lower(self, level: int) -> None:
        while not level and self.segments[0].bytes > self._limits[0]:
            self.cache.evict(self.segments[0].first())
        super()._lower(level)


class LibTwoQ(LibPolicy, two_q.TwoQ):
    """2Q as in libCacheSim: refuse objects larger than A1in, and limit Am to its own share.

    One that returns and is larger than Am does not enter either, though room is made for it. With
    equal sizes this is the policy of the paper.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("two_q:rules=libcachesim", "A BCDEFGH I", capacity_bytes=10, A=3)
    ''
    >>> evicted("two_q", "A BCDEFGH I", capacity_bytes=10, A=3)
    'A'
    """

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity, by products of floats."""
        queue, memory = self._shares
        self._in_limit = int(capacity_bytes * queue)
        self._main_limit = capacity_bytes - self._in_limit
        self._out = Ghosts(int(capacity_bytes * memory))

    def may_enter(self, entry: Entry) -> bool:
        """Refuse an object larger than A1in."""
        return entry.size_bytes <= self._in_limit

    def enters(self, entry: Entry) -> bool:
        """Refuse a returning object larger than Am."""
        return entry not in self._returning or entry.size_bytes <= self._main_limit

    def on_insert(self, entry: Entry) -> None:
        """Make room in Am if it enters there."""
        if entry in self._returning:
            while self._main and self._main.bytes + entry.size_bytes > self._main_limit:
                self.cache.evict(self._main.first())
        super().on_insert(entry)


class LibArc(LibPolicy, arc.Arc):
    """ARC as in libCacheSim: the target moves by bytes, whatever the size of the object.

    With sizes of 1 this is the policy of the paper; with large ones the target hardly moves.

    Examples
    --------
    The return of B, of 2 bytes, moves the target by one byte, so that C leaves for D, and not B:

    >>> from policies.tryout import evicted
    >>> evicted("arc:rules=libcachesim", "AA B C B D", capacity_bytes=4, A=2, B=2, C=2, D=2)
    'BCA'
    >>> evicted("arc", "AA B C B D", capacity_bytes=4, A=2, B=2, C=2, D=2)
    'BAB'
    """

    def _note_return(self, entry: Entry, page_bytes: int) -> None:
        del page_bytes
        super()._note_return(entry, 1)


class LibS3Fifo(LibPolicy, s3fifo.S3Fifo):
    """S3-FIFO as in libCacheSim: evict from the main queue while that exceeds its share.

    Otherwise it evicts from the small queue. Until the first eviction, objects that overfill the
    small queue enter the main one. An object larger than the small queue does not enter; for one
    just as large, unless it is remembered, room is made, and it does not enter either. Whether it
    is remembered is checked before room is made.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of which C to T enter the main queue at first
    >>> evicted("s3fifo:rules=libcachesim", letters, capacity_bytes=20)
    'ABUVWX'
    >>> evicted("s3fifo", letters, capacity_bytes=20)
    'ABCDEF'
    """

    _filling = True
    _returns = False

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity, by products of floats."""
        small, memory = self._shares
        self._small_limit = int(capacity_bytes * small)
        self._main_limit = capacity_bytes - self._small_limit
        self._ghosts = Ghosts(int(capacity_bytes * memory))

    def on_miss(self, entry: Entry) -> None:
        """Note whether it is remembered."""
        self._returns = self._ghosts.take(entry.key)

    def may_enter(self, entry: Entry) -> bool:
        """Refuse an object larger than the small queue."""
        return entry.size_bytes <= self._small_limit

    def enters(self, entry: Entry) -> bool:
        """Refuse an object as large as the small queue, though room was made for it."""
        return self._returns or entry.size_bytes < self._small_limit

    def on_insert(self, entry: Entry) -> None:
        """Put it into the main queue if it returns or overfills the small one at first."""
        entry.rank = 0
        overfills = self._filling and self._small.bytes >= self._small_limit
        (self._main if self._returns or overfills else self._small).push(entry)

    def victim(self) -> Entry | None:
        """Return the first entry with too few uses to stay."""
        self._filling = False
        first, second = self._small_victim, self._main_victim
        if self._main.bytes > self._main_limit:
            first, second = second, first
        return first() or second() or first()

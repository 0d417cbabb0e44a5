"""Policies of the papers, with what libCacheSim does otherwise."""

from __future__ import annotations

from typing import Any

from policies.eviction import arc, s3fifo, slru, two_q
from policies.objects.libcachesim.cache import LibPolicy
from policies.orders.ghosts import Ghosts
from simulator.plugins.entries import Entry


class LibSlru(LibPolicy, slru.Slru):
    """Give each segment an equal part, probation included.

    A new object enters the lowest segment that has room, and not at all if it is larger than a
    segment. What overfills probation leaves at once, so with unequal sizes room stays unused.

    Parameters
    ----------
    segments
        Number of segments, probation included.
    """

    def __init__(self, segments: int = 4) -> None:
        super().__init__(segments)

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity."""
        count = len(self.segments)
        self._limits = [capacity_bytes // count] * count

    def may_enter(self, entry: Entry) -> bool:
        """Refuse what is larger than a segment."""
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
    """Refuse an object larger than A1in, and let Am give way where it exceeds its own share.

    One that returns and is larger than Am does not enter either, though room is made for it. With
    equal sizes this is the policy of the paper.
    """

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity, by products of floats."""
        queue, memory = self._shares
        self._in_limit = int(capacity_bytes * queue)
        self._main_limit = capacity_bytes - self._in_limit
        self._out = Ghosts(int(capacity_bytes * memory))

    def may_enter(self, entry: Entry) -> bool:
        """Refuse what is larger than A1in."""
        return entry.size_bytes <= self._in_limit

    def enters(self, entry: Entry) -> bool:
        """Refuse what returns and is larger than Am."""
        return entry not in self._returning or entry.size_bytes <= self._main_limit

    def on_insert(self, entry: Entry) -> None:
        """Make room in Am if it enters there."""
        if entry in self._returning:
            while self._main and self._main.bytes + entry.size_bytes > self._main_limit:
                self.cache.evict(self._main.first())
        super().on_insert(entry)


class LibArc(LibPolicy, arc.Arc):
    """Move the target by bytes, however large the object that returns.

    With sizes of 1 this is the policy of the paper; large ones hardly move it.
    """

    def _note_return(self, entry: Entry, page_bytes: int) -> None:
        del page_bytes
        super()._note_return(entry, 1)


class LibS3Fifo(LibPolicy, s3fifo.S3Fifo):
    """Let the main queue give way where it exceeds its share, else the small one.

    Until the first eviction what overfills the small queue enters the main one. An object larger
    than the small queue does not enter; for one just as large, unless it is remembered, room is
    made, and it does not enter either. Whether it is remembered is seen before room is made.
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
        """Look whether it is remembered."""
        self._returns = self._ghosts.take(entry.key)

    def may_enter(self, entry: Entry) -> bool:
        """Refuse what is larger than the small queue."""
        return entry.size_bytes <= self._small_limit

    def enters(self, entry: Entry) -> bool:
        """Refuse what is as large, though there is room now."""
        return self._returns or entry.size_bytes < self._small_limit

    def on_insert(self, entry: Entry) -> None:
        """Put it into the main queue if it returns or overfills the small one at first."""
        entry.rank = 0
        overfills = self._filling and self._small.bytes >= self._small_limit
        (self._main if self._returns or overfills else self._small).push(entry)

    def victim(self) -> Entry | None:
        """Return the first entry without the uses that would let it stay."""
        self._filling = False
        first, second = self._small_victim, self._main_victim
        if self._main.bytes > self._main_limit:
            first, second = second, first
        return first() or second() or first()

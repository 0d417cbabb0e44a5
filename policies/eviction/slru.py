"""Segmented LRU."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from policies.eviction.base import BaseEviction, exact, require_share, share_of
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import leave_in_turn
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan


class Slru(BaseEviction):
    """Keep entries in LRU segments: a hit moves an entry up, a full segment moves its oldest down.

    What is new enters the lowest segment (probation), and the oldest there is evicted, so only
    what was hit can fill the protected segments above. Probation is whatever these leave free.

    Parameters
    ----------
    segments
        Number of segments, probation included; the paper has 2.
    protected
        Share of the capacity for all protected segments together; they have equal parts.

    Source: R. Karedla, J. S. Love and B. G. Wherry, "Caching strategies to improve disk system
    performance", IEEE Computer 27(3), 1994.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("slru", "ABAB CDEF", capacity_bytes=4)  # A and B are protected by their hits
    'CD'
    >>> evicted("slru", "AB CDEF", capacity_bytes=4)  # without hits it is a queue
    'AB'
    """

    def __init__(self, segments: int = 2, protected: float = 0.8) -> None:
        require_share("protected", protected)
        require(2 <= segments <= 64, "segments", "2 to 64", segments)
        self._protected = protected
        self.segments = [ByteQueue() for _ in range(segments)]
        self._highest = segments - 1
        self._limits = [float("inf")] * segments
        self._level: dict[Entry, int] = {}

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        part = share_of(capacity_bytes, exact(self._protected) / self._highest)
        self._limits[1:] = [part] * self._highest

    def on_insert(self, entry: Entry) -> None:
        """Put it on probation."""
        self._level[entry] = 0
        self.segments[0].push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Move it up by one segment, and move down what no longer fits."""
        level = self._level[entry]
        if level == self._highest:
            self.segments[level].touch(entry)
            return
        self.segments[level].discard(entry)
        level = self._level[entry] = level + 1
        self.segments[level].push(entry)
        self._lower(level)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self.segments[self._level[entry]].on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self.segments[self._level.pop(entry)].discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place."""
        level = self._level.get(lower)
        if level is not None:
            self._level[upper] = level
            self.segments[level].split(upper, lower)
            if not lower.resident:
                del self._level[lower]

    def victim(self) -> Entry | None:
        """Return the oldest evictable entry of the lowest segment that has one."""
        for segment in self.segments:
            entry = segment.head()
            if entry is not None:
                return entry
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        return leave_in_turn(self.segments)

    @property
    def bytes(self) -> int:
        """Bytes of all segments."""
        total = 0
        for segment in self.segments:  # twice as fast as sum() of so few
            total += segment.bytes
        return total

    def _lower(self, level: int) -> None:
        """Move the oldest entries of a segment down until it fits; probation has no limit."""
        segment = self.segments[level]
        while segment.bytes > self._limits[level]:
            entry = segment.first()
            if entry is None:
                return
            segment.discard(entry)
            self._level[entry] = level - 1
            self.segments[level - 1].push(entry)
            self._lower(level - 1)

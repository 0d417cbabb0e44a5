"""Segmented LRU."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from policies.eviction.base import BaseEviction, exact, require_rules, require_share, share_of
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import leave_in_turn
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan


class Slru(BaseEviction):
    """Keep entries in LRU segments: a hit lifts an entry by one, a full segment lowers its oldest.

    What is new enters the lowest segment (probation), and the oldest there is evicted, so only
    what was hit can fill the protected segments above.

    Parameters
    ----------
    segments
        Number of segments, probation included; by default 2, or 4 in the reference.
    protected
        Share of the capacity for all protected segments together; they have equal parts.
    rules
        "paper", or "libcachesim": every segment has an equal part, probation included; a new
        entry enters the lowest segment that has room; an object larger than a segment does not
        enter; and where hits overfill the lowest segment, its oldest leaves at once, so part of
        the capacity stays unused with unequal sizes. The paper has two segments, and probation is
        whatever the protected one leaves free, which wastes nothing.

    Source: R. Karedla, J. S. Love and B. G. Wherry, "Caching strategies to improve disk system
    performance", IEEE Computer 27(3), 1994.
    """

    def __init__(
        self, segments: int | None = None, protected: float = 0.8, rules: str = "paper"
    ) -> None:
        require_share("protected", protected)
        self._reference = require_rules(rules)
        if segments is None:
            segments = 4 if self._reference else 2
        require(2 <= segments <= 64, "segments", "2 to 64", segments)
        self._protected = protected
        self.segments = [ByteQueue() for _ in range(segments)]
        self._highest = segments - 1
        self._limits = [float("inf")] * segments
        self._level: dict[Entry, int] = {}
        if self._reference:
            self.condemned = []

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        count = len(self.segments)
        if not self._reference:
            part = share_of(capacity_bytes, exact(self._protected) / (count - 1))
            self._limits = [float("inf"), *[part] * (count - 1)]
        elif capacity_bytes is not None:
            self._limits = [capacity_bytes // count] * count

    def on_miss(self, entry: Entry) -> bool:
        """Refuse an object larger than a segment, where the rules say so."""
        return not self._reference or entry.size_bytes <= self._limits[0]

    def on_insert(self, entry: Entry) -> None:
        """Put it on probation, or where the reference has room."""
        level = self._lowest_with_room(entry.size_bytes) if self._reference else 0
        self._level[entry] = level
        self.segments[level].push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Lift it by one segment, and lower what no longer fits."""
        level = self._level[entry]
        if level == self._highest:
            self.segments[level].touch(entry)
            return
        self.segments[level].discard(entry)
        level = self._level[entry] = level + 1
        self.segments[level].push(entry)
        self._lower(level)

    def on_evictable(self, entry: Entry) -> None:
        """Give it its place again."""
        self.segments[self._level[entry]].on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self.segments[self._level.pop(entry)].discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Leave both parts where they stand."""
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
        """Yield what would go, and change nothing."""
        return leave_in_turn(self.segments)

    @property
    def bytes(self) -> int:
        """Bytes of all segments."""
        total = 0
        for segment in self.segments:  # twice as fast as sum() of so few
            total += segment.bytes
        return total

    def _lower(self, level: int) -> None:
        """Lower the oldest of a segment until it fits; below probation lies only the way out."""
        segment = self.segments[level]
        while segment.bytes > self._limits[level]:
            entry = segment.first()
            if entry is None:
                return
            segment.discard(entry)
            if level:
                self._level[entry] = level - 1
                self.segments[level - 1].push(entry)
                self._lower(level - 1)
            elif self.condemned is not None:
                self.condemned.append(entry)

    def _lowest_with_room(self, size_bytes: int) -> int:
        for level, segment in enumerate(self.segments):
            if segment.bytes + size_bytes <= self._limits[level]:
                return level
        return 0

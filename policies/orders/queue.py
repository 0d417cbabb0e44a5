"""Queues of entries, some of which are not evictable at times."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from heapq import heappop, heappush, merge
from itertools import count

from policies.orders.heaps import in_order
from simulator.plugins.entries import Entry, KvSpan

_LATER = 1 << 62  # of equal places, those set aside come first
Place = tuple[int, int, Entry]  # the place, an order among equal ones, the entry


class Queue:
    """Entries in order of arrival; `head` skips those that are not evictable now.

    An entry that comes to the head while it is not evictable is set aside, and returns to its
    place when the policy is told that it is evictable (`on_evictable`). So each such entry costs
    one O(log n) step, however often the head is asked for, and everything else constant time. Both
    parts of a split span keep its place: the upper one is set aside until the lower one has left.

    `order` and `next_place` are public for the hot loops of the policies: the entries that are not
    set aside, first to last, each with its place, and the next place at the end.
    """

    __slots__ = ("_blocked", "_freed", "_heap", "next_place", "order")

    def __init__(self) -> None:
        self.order: OrderedDict[Entry, int] = OrderedDict()
        self.next_place = count(1).__next__
        self._blocked: dict[Entry, int] = {}  # set aside, by place
        self._freed: dict[Entry, int] = {}  # evictable again
        self._heap: list[Place] = []  # of `_freed`, outdated ones among them

    def __len__(self) -> int:
        return len(self.order) + len(self._blocked) + len(self._freed)

    def __contains__(self, entry: object) -> bool:
        return entry in self.order or entry in self._freed or entry in self._blocked

    def push(self, entry: Entry) -> None:
        """Put `entry` at the end."""
        self.order[entry] = self.next_place()

    def touch(self, entry: Entry) -> None:
        """Move `entry` to the end."""
        order = self.order
        if entry in order:
            order.move_to_end(entry)
            order[entry] = self.next_place()
        elif self.discard(entry):
            self.push(entry)

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give `upper` the place of `lower`, if it is here; without KV, `lower` is removed."""
        for places in (self.order, self._blocked, self._freed):
            place = places.get(lower)
            if place is not None:
                self._blocked[upper] = place
                if not lower.resident:
                    self.discard(lower)
                    self.on_evictable(upper)
                return

    def discard(self, entry: Entry) -> bool:
        """Remove `entry`, and say whether it was there."""
        if entry in self.order:
            del self.order[entry]
            return True
        return bool(self._blocked.pop(entry, 0) or self._freed.pop(entry, 0))

    def on_evictable(self, entry: Entry) -> None:
        """Return an entry that was set aside to its place."""
        place = self._blocked.pop(entry, None)
        if place is not None:
            self._freed[entry] = place
            heappush(self._heap, (place, self.next_place(), entry))

    def head(self) -> Entry | None:
        """Return the first evictable entry, or None."""
        if not self._heap:
            for entry in self.order:
                if entry.evictable:
                    return entry
                break
        while (first := self.first()) is not None and not first.evictable:
            place = self.order.pop(first, None)
            self._blocked[first] = self._freed.pop(first) if place is None else place
        return first

    def place_of(self, entry: Entry) -> int:
        """Return the place of `entry`, set aside or not; 0 where it is not here."""
        return self.order.get(entry) or self._freed.get(entry) or self._blocked.get(entry, 0)

    def places(self) -> Iterator[Place]:
        """Return the entries not set aside, first to last; the queue must not change meanwhile."""
        order = ((place, _LATER, entry) for entry, place in self.order.items())
        return merge(order, self._freed_places()) if self._heap else order

    def _freed_places(self) -> Iterator[Place]:
        before = None
        for item in in_order(self._heap):
            place, _, entry = item
            if self._freed.get(entry) == place and entry is not before:
                before = entry
                yield item

    def first(self) -> Entry | None:
        """Return the first entry that is not set aside, evictable or not, or None."""
        heap, first = self._heap, None
        while heap and first is None:
            place, _, entry = heap[0]
            if self._freed.get(entry) == place:
                first = entry
            else:
                heappop(heap)
        for entry, place in self.order.items():
            return entry if first is None or place < self._freed[first] else first
        return first


class ByteQueue(Queue):
    """A queue that counts bytes, by the size of each entry when it was last pushed or moved.

    `charged` holds them by entry.
    """

    __slots__ = ("bytes", "charged")

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self.charged: dict[Entry, int] = {}

    def __contains__(self, entry: object) -> bool:
        return entry in self.charged

    def push(self, entry: Entry) -> None:
        """Put `entry` at the end and count its bytes."""
        self.order[entry] = self.next_place()
        size_bytes = self.charged[entry] = entry.size_bytes
        self.bytes += size_bytes

    def touch(self, entry: Entry) -> None:
        """Move `entry` to the end and count its bytes anew."""
        if entry in self.order:
            self.order.move_to_end(entry)
            self.order[entry] = self.next_place()
            size_bytes = entry.size_bytes
            if size_bytes != self.charged[entry]:
                self.bytes += size_bytes - self.charged[entry]
                self.charged[entry] = size_bytes
        elif self.discard(entry):
            self.push(entry)

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give `upper` the place of `lower`, if that is here, and count the bytes of both anew."""
        if lower not in self.charged:
            return
        super().split(upper, lower)
        for part in (upper, lower):
            if part.resident:
                self.bytes += part.size_bytes - self.charged.get(part, 0)
                self.charged[part] = part.size_bytes

    def discard(self, entry: Entry) -> bool:
        """Remove `entry` with its bytes, and say whether it was there."""
        size_bytes = self.charged.pop(entry, None)
        if size_bytes is None:
            return False
        self.bytes -= size_bytes
        if entry in self.order:
            del self.order[entry]
            return True
        return super().discard(entry)

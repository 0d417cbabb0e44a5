"""Queues of entries of which some cannot be evicted now."""

from __future__ import annotations

from collections import OrderedDict
from heapq import heappop, heappush

from simulator.entry import Entry


class Queue:
    """Entries in order of arrival; `head` passes over those that are not evictable now.

    A blocked entry that comes to the head is set aside, and takes its place again when the policy
    is told that it is evictable (`on_evictable`). So each blocking costs one O(log n) step,
    however often the head is asked for, and everything else constant time. What was set aside
    came from the head: it stands before all that is still in order.

    `order` is public for the hot loops of the policies: what is not set aside, first to last.
    """

    __slots__ = ("_blocked", "_freed", "_heap", "_places", "order")

    def __init__(self) -> None:
        self.order: OrderedDict[Entry, None] = OrderedDict()
        self._places = 0
        self._blocked: dict[Entry, int] = {}  # set aside, by place
        self._freed: dict[Entry, int] = {}  # evictable again
        self._heap: list[tuple[int, Entry]] = []  # of `_freed`, outdated ones among them

    def __len__(self) -> int:
        return len(self.order) + len(self._blocked) + len(self._freed)

    def __contains__(self, entry: object) -> bool:
        return entry in self.order or entry in self._freed or entry in self._blocked

    def push(self, entry: Entry) -> None:
        """Put `entry` at the end."""
        self.order[entry] = None

    def touch(self, entry: Entry) -> None:
        """Move `entry` to the end."""
        if entry in self.order:
            self.order.move_to_end(entry)
        elif self.discard(entry):
            self.push(entry)

    def discard(self, entry: Entry) -> bool:
        """Take `entry` out, and say whether it was there."""
        if entry in self.order:
            del self.order[entry]
            return True
        return bool(self._blocked.pop(entry, 0) or self._freed.pop(entry, 0))

    def on_evictable(self, entry: Entry) -> None:
        """Give an entry that was set aside its place again."""
        place = self._blocked.pop(entry, None)
        if place is not None:
            self._freed[entry] = place
            heappush(self._heap, (place, entry))

    def head(self) -> Entry | None:
        """Return the first evictable entry, or None."""
        if not self._heap:
            for entry in self.order:
                if entry.evictable:
                    return entry
                break
        return self._search()

    def first(self) -> Entry | None:
        """Return the first entry that is not set aside, evictable or not, or None."""
        if self._heap and (freed := self._first_freed()) is not None:
            return freed
        for entry in self.order:
            return entry
        return None

    def _search(self) -> Entry | None:
        """Return the first evictable entry, setting aside what is blocked."""
        while (freed := self._first_freed()) is not None:
            if freed.evictable:
                return freed
            self._blocked[freed] = self._freed.pop(freed)
        while self.order:
            entry = next(iter(self.order))
            if entry.evictable:
                return entry
            self._places += 1
            self._blocked[entry] = self._places
            del self.order[entry]
        return None

    def _first_freed(self) -> Entry | None:
        heap = self._heap
        while heap:
            place, entry = heap[0]
            if self._freed.get(entry) == place:
                return entry
            heappop(heap)
        return None


class ByteQueue(Queue):
    """A queue that counts bytes: those an entry had when it came, or was last moved.

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
        self.order[entry] = None
        size_bytes = self.charged[entry] = entry.size_bytes
        self.bytes += size_bytes

    def touch(self, entry: Entry) -> None:
        """Move `entry` to the end and count its bytes anew."""
        if entry in self.order:
            self.order.move_to_end(entry)
            size_bytes = entry.size_bytes
            if size_bytes != self.charged[entry]:
                self.bytes += size_bytes - self.charged[entry]
                self.charged[entry] = size_bytes
        elif self.discard(entry):
            self.push(entry)

    def discard(self, entry: Entry) -> bool:
        """Take `entry` out, with its bytes, and say whether it was there."""
        size_bytes = self.charged.pop(entry, None)
        if size_bytes is None:
            return False
        self.bytes -= size_bytes
        if entry in self.order:
            del self.order[entry]
            return True
        return super().discard(entry)

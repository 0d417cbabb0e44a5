"""Views of queues in which entries leave or move without changing the queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue, Place, Queue
from simulator.plugins.entries import Entry

_LAST = 1 << 62  # larger than any place in a queue


class QueueView:
    """A view of a queue on which a policy can simulate its next evictions.

    It has the methods of the queue itself, which does not change, and must not be changed
    meanwhile. Making a view takes constant time, and each entry that it passes O(log n).

    Parameters
    ----------
    queue
        The queue.
    outlook
        Says which entries could be evicted.
    """

    __slots__ = (
        "_coming",
        "_count",
        "_length",
        "_moved",
        "_next",
        "_outlook",
        "_queue",
        "_returned",
    )

    def __init__(self, queue: Queue, outlook: Outlook) -> None:
        self._queue = queue
        self._outlook = outlook
        self._coming = queue.places()  # of the queue itself, first to last
        self._next = next(self._coming, None)
        self._moved: dict[Entry, int] = {}  # new places of entries; 0: no longer here
        self._returned: list[Place] = []  # a heap of entries that were moved, or skipped and freed
        self._count = 0
        self._length = len(queue)

    def __len__(self) -> int:
        return self._length

    def __contains__(self, entry: Entry) -> bool:
        return bool(self._place_of(entry))

    def head(self) -> Entry | None:
        """Return the first evictable entry, or None; entries skipped are set aside."""
        while (first := self.first()) is not None and not self._outlook.evictable(first):
            returned = self._returned
            if returned and returned[0][2] is first:
                heappop(returned)
            else:
                self._next = next(self._coming, None)
        return first

    def first(self) -> Entry | None:
        """Return the first entry that is not set aside, or None."""
        returned = self._returned
        while returned and self._place_of(returned[0][2]) != returned[0][0]:
            heappop(returned)
        while self._next is not None and self._next[2] in self._moved:
            self._next = next(self._coming, None)
        if returned and (self._next is None or returned[0] < self._next):
            return returned[0][2]
        return None if self._next is None else self._next[2]

    def push(self, entry: Entry) -> None:
        """Put `entry` at the end."""
        self._length += 1
        self._count += 1
        place = self._moved[entry] = _LAST + self._count
        heappush(self._returned, (place, self._count, entry))

    def discard(self, entry: Entry) -> bool:
        """Remove `entry`, and say whether it was there."""
        was_here = entry in self
        self._length -= was_here
        self._moved[entry] = 0
        return was_here

    def touch(self, entry: Entry) -> None:
        """Move `entry` to the end."""
        if self.discard(entry):
            self.push(entry)

    def on_evictable(self, entry: Entry | None) -> None:
        """Return an entry that was set aside to its place, if it is here."""
        if entry is not None and (place := self._place_of(entry)):
            self._count += 1
            heappush(self._returned, (place, self._count, entry))

    def _place_of(self, entry: Entry) -> int:
        place = self._moved.get(entry)
        return self._queue.place_of(entry) if place is None else place


class ByteQueueView(QueueView):
    """A view of a queue that counts bytes."""

    __slots__ = ("_charged", "_charges", "bytes")

    def __init__(self, queue: ByteQueue, outlook: Outlook) -> None:
        super().__init__(queue, outlook)
        self.bytes = queue.bytes
        self._charged = queue.charged
        self._charges: dict[Entry, int] = {}  # of what was moved

    def push(self, entry: Entry) -> None:
        """Put `entry` at the end and count its bytes."""
        super().push(entry)
        size_bytes = self._charges[entry] = entry.size_bytes
        self.bytes += size_bytes

    def discard(self, entry: Entry) -> bool:
        """Remove `entry` with its bytes, and say whether it was there."""
        charges = self._charges if entry in self._moved else self._charged
        self.bytes -= charges.get(entry, 0)
        self._charges.pop(entry, None)
        return super().discard(entry)


def first_head(views: Iterable[QueueView]) -> Entry | None:
    """Return the head of the first view that has one."""
    for view in views:
        head = view.head()
        if head is not None:
            return head
    return None


def leave_in_turn(queues: Sequence[Queue]) -> Iterator[Entry]:
    """Yield the next victims, each the head of the first of `queues` that has one."""
    outlook = Outlook()
    views = [QueueView(queue, outlook) for queue in queues]
    while (entry := first_head(views)) is not None:
        yield entry
        freed = outlook.let_go(entry)
        for view in views:
            view.on_evictable(freed)

"""LRU order of entries, where a use of a path is reported for its deepest span alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from heapq import heappop, heappush, merge

from policies.orders.heaps import in_order
from policies.orders.outlook import Outlook
from simulator.base.compiling import mypyc_attr
from simulator.plugins.entries import Entry, KvSpan

Place = tuple[int, int, Entry]  # last use, an order among equal ones, the entry


@mypyc_attr(allow_interpreted_subclasses=True)
class Recency:
    """The hooks of an eviction policy that evicts the least recently used entry.

    A span is used whenever one below it is, and cannot be evicted before that one. So its last use
    is not updated while there are spans below it, but when the last of them leaves. Hence a use
    costs the same however long its path is.

    The `rank` of an entry is its last use as far as it is known. The entry is in `_order`, which is
    ascending; or, with `queued` set, in `_revived`, a heap of entries that were not evictable when
    they came to the head and are so now; or in neither.
    """

    def __init__(self) -> None:
        self._order: OrderedDict[Entry, None] = OrderedDict()
        self._revived: list[Place] = []
        self._clock = 0

    def on_insert(self, entry: Entry) -> None:
        """Make a new entry the most recent."""
        self._clock = entry.rank = self._clock + 1
        self._order[entry] = None

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._clock = entry.rank = self._clock + 1
        order = self._order
        if entry in order:
            order.move_to_end(entry)
        else:
            order[entry] = None
            entry.queued = 0

    def on_evict(self, entry: Entry) -> None:
        """Remove an entry that has left; the span above it was used at least as late."""
        try:
            del self._order[entry]
        except KeyError:
            entry.queued = 0
        if isinstance(entry, KvSpan):
            above, rank = entry.parent, entry.rank
            if above.rank < rank:
                self._take_out(above)
                above.rank = rank

    def on_evictable(self, entry: Entry) -> None:
        """Return an entry that was removed to its place, now that it is evictable."""
        if not entry.queued and entry not in self._order:
            self._clock += 1
            entry.queued = 1
            heappush(self._revived, (entry.rank, self._clock, entry))

    def victim(self) -> Entry | None:
        """Return the least recently used evictable entry, None if there is none."""
        first = next(iter(self._order), None)
        if first is not None and not first.evictable:
            first = self._first_in_order()
        revived = self._revived
        while revived:
            rank, _, entry = revived[0]
            if entry.queued and entry.rank == rank:
                if entry.evictable:
                    return entry if first is None or rank < first.rank else first
                entry.queued = 0
            heappop(revived)
        return first

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        outlook = Outlook()
        freed: list[Place] = []  # spans that became evictable in this iteration
        last_use: dict[Entry, int] = {}  # of spans, as the evictions before would update it
        standing = self._places()
        place = next(standing, None)
        while place is not None or freed:
            if place is not None and (not freed or place[0] < freed[0][0]):
                entry, rank = place[2], place[0]
                place = next(standing, None)
            else:
                rank, _, entry = heappop(freed)
            if not outlook.evictable(entry) or last_use.get(entry, rank) > rank:
                continue
            yield entry
            above = outlook.let_go(entry)
            if isinstance(entry, KvSpan):
                parent = entry.parent
                last_use[parent] = max(last_use.get(parent, parent.rank), rank)
            if above is not None:
                heappush(freed, (last_use.get(above, above.rank), len(last_use), above))

    def _places(self) -> Iterator[Place]:
        order = ((entry.rank, 0, entry) for entry in self._order)
        revived = (
            place
            for place in in_order(self._revived)
            if place[2].queued and place[2].rank == place[0]
        )
        return merge(order, revived, key=_rank_of)

    def _first_in_order(self) -> Entry | None:
        """Return the first evictable entry of the order, and remove those before it."""
        order = self._order
        while order:
            entry = next(iter(order))
            if entry.evictable:
                return entry
            del order[entry]
        return None

    def _take_out(self, entry: Entry) -> None:
        if entry in self._order:
            del self._order[entry]
        else:
            entry.queued = 0


def _rank_of(place: Place) -> int:
    return place[0]

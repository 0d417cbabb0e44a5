"""Views of heaps by rank in which entries leave without changing the heap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

from policies.orders.heaps import in_order
from policies.orders.outlook import Outlook
from policies.orders.places import Place
from simulator.plugins.entries import Entry

_LAST = 1 << 62  # later than any time in a heap


class RankView:
    """A view of a heap of places from which entries leave; the heap itself does not change.

    Parameters
    ----------
    heap
        Places (rank, time, entry), outdated ones among them; it must not change meanwhile.
    outlook
        Says which entries could be evicted.
    time_of
        The attribute of an entry that has the time of its one valid place.
    renews
        Whether an entry that becomes evictable always gets a new place, not only if it has none.
    """

    __slots__ = (
        "_clock",
        "_coming",
        "_new",
        "_next",
        "_outlook",
        "_renews",
        "_time_of",
        "_without",
    )

    def __init__(
        self, heap: list[Any], outlook: Outlook, time_of: str = "queued", *, renews: bool = False
    ) -> None:
        self._outlook = outlook
        self._renews = renews
        self._time_of: Callable[[Entry], int] = attrgetter(time_of)
        self._coming: Iterator[Place] = in_order(heap)
        self._next = next(self._coming, None)
        self._new: list[Place] = []  # a heap of places given in this view
        self._without: set[Entry] = set()  # entries whose place in the heap itself no longer counts
        self._clock = _LAST

    def head(self) -> Entry | None:
        """Return the evictable entry of least rank, or None."""
        while (place := self._first()) is not None:
            rank, time, entry = place
            if not self._counts(place):
                self._pass()
            elif not self._outlook.evictable(entry):
                self._without.add(entry)
                self._pass()
            elif entry.rank != rank:  # it has grown since
                self._pass()
                heappush(self._new, (entry.rank, time, entry))
            else:
                least: Entry = entry
                return least
        return None

    def on_evictable(self, entry: Entry | None) -> None:
        """Give an entry that has become evictable a place, unless it has one."""
        if entry is None:
            return
        if self._renews or not entry.queued or entry in self._without:
            self._clock += 1
            self._without.add(entry)
            heappush(self._new, (entry.rank, self._clock, entry))

    def _first(self) -> Place | None:
        if self._new and (self._next is None or self._new[0][:2] < self._next[:2]):
            return self._new[0]
        return self._next

    def _pass(self) -> None:
        """Move past the first place."""
        if self._first() is self._next:
            self._next = next(self._coming, None)
        else:
            heappop(self._new)

    def _counts(self, place: Place) -> bool:
        _, time, entry = place
        if time > _LAST:
            return True
        return entry not in self._without and self._time_of(entry) == time


def leave_by_rank(
    heap: list[Any], time_of: str = "queued", *, renews: bool = False
) -> Iterator[Entry]:
    """Yield the entries of a heap in the order in which they would leave."""
    outlook = Outlook()
    view = RankView(heap, outlook, time_of, renews=renews)
    while (entry := view.head()) is not None:
        yield entry
        view.on_evictable(outlook.let_go(entry))

"""Base classes of eviction policies that need prefixes."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappush
from typing import Any, ClassVar

from policies.eviction.base import BaseEviction
from policies.orders.places import Place, head
from policies.orders.rank_view import leave_by_rank
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class PrefixEviction(BaseEviction):
    """An eviction policy for the prefix cache only: plain objects have no positions.

    It is told of each request, and keeps the latest as `request`.
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self.context: CacheContext | None = None
        self.request: Overlap | None = None

    def begin(self, context: CacheContext) -> None:
        """Read sizes and costs."""
        self.context = context

    def observe(self, overlap: Overlap) -> None:
        """Note the request that inserts and uses entries from now on."""
        self.request = overlap


class Scored(PrefixEviction):
    """Evicts the entry of least rank, where a rank may change either way.

    A subclass calls `place` with a new rank (any ordered value; ties go by age). Each call is
    one O(log n) push; outdated items are discarded when they come to the top of the heap.
    """

    def __init__(self) -> None:
        super().__init__()
        self._heap: list[Place] = []
        self._clock = 0
        self._limit = 64

    def place(self, entry: Entry, rank: Any) -> None:
        """Give `entry` its rank."""
        entry.rank = rank
        entry.queued = False
        self.on_evictable(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Push the entry onto the heap of candidates, unless it is there."""
        if entry.queued:
            return
        self._clock = clock = self._clock + 1
        entry.queued = True
        entry.policy_data = clock
        heappush(self._heap, (entry.rank, clock, entry))
        if len(self._heap) > self._limit:
            self._compact()

    def on_evict(self, entry: Entry) -> None:
        """Invalidate its item in the heap."""
        entry.queued = False
        entry.policy_data = None

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the rank of the whole."""
        if upper.size_bytes:
            self.place(upper, lower.rank)
            if not lower.size_bytes:
                self.on_evict(lower)

    def victim(self) -> Entry | None:
        """Return the evictable entry of least rank."""
        return head(self._heap)

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, by the present ranks; nothing changes."""
        return leave_by_rank(self._heap, "policy_data")

    def _compact(self) -> None:
        """Drop outdated items, so that the heap is at most twice as long as needed."""
        self._heap = [item for item in self._heap if item[2].policy_data == item[1]]
        heapify(self._heap)
        self._limit = 2 * len(self._heap) + 64

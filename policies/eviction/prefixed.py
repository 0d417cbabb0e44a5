"""The common ground of eviction policies that need prefixes."""

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

    It is told of each request, and keeps the last it was told of.
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self.context: CacheContext | None = None
        self.request: Overlap | None = None

    def begin(self, context: CacheContext) -> None:
        """Get to know sizes and costs."""
        self.context = context

    def observe(self, overlap: Overlap) -> None:
        """Know the request on whose behalf entries come and are used from now on."""
        self.request = overlap


class Scored(PrefixEviction):
    """Evicts the entry of least rank, where a rank may change either way.

    A subclass calls `place` with a new rank (anything with an order; ties go by age). Each call is
    one O(log n) step; what it has outdated is discarded when it comes to the top.
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
        """Give the entry a place among the candidates, unless it has one."""
        if entry.queued:
            return
        self._clock = clock = self._clock + 1
        entry.queued = True
        entry.policy_data = clock
        heappush(self._heap, (entry.rank, clock, entry))
        if len(self._heap) > self._limit:
            self._compact()

    def on_evict(self, entry: Entry) -> None:
        """Outdate its place."""
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
        """Yield what would go by the ranks as they are, and change nothing."""
        return leave_by_rank(self._heap, "policy_data")

    def _compact(self) -> None:
        """Drop what is outdated, so that the heap is at most twice as long as it need be."""
        self._heap = [item for item in self._heap if item[2].policy_data == item[1]]
        heapify(self._heap)
        self._limit = 2 * len(self._heap) + 64

"""Base class of policies that evict the entry of least rank."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush, heapreplace
from typing import Any

from policies.eviction.base import BaseEviction
from policies.orders.rank_view import leave_by_rank
from simulator.plugins.entries import Entry, KvSpan


class Ranked(BaseEviction):
    """Keeps the evictable entries in a heap by rank; the least goes first, ties by age.

    A subclass defines the rank of a new entry (`first_rank`: any ordered value) and how a hit
    changes it (`on_hit`); a rank may only grow while its entry is in the cache. So a hit leaves
    the heap alone: a rank that has grown is noticed when its entry comes to the top, and the
    entry is pushed down to where it belongs. `entry.queued` is the age of the one item of the heap
    that counts for it; items of entries that have left no longer count, even if these come back.
    `victim` costs O(log n) amortised over the hits and evictions that outdated the top.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Any, int, Entry]] = []
        self._clock = 0

    def first_rank(self, entry: Entry) -> Any:
        """Return the rank of an entry that has just come in; by default the time."""
        del entry
        return self._clock

    def on_insert(self, entry: Entry) -> None:
        """Rank a new entry."""
        self._clock += 1
        entry.rank = self.first_rank(entry)
        self.on_evictable(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Push the entry onto the heap of candidates, unless it is there."""
        if not entry.queued:
            self._clock += 1
            entry.queued = self._clock
            heappush(self._heap, (entry.rank, self._clock, entry))

    def on_evict(self, entry: Entry) -> None:
        """Invalidate its item in the heap; `victim` discards it when it comes to the top."""
        entry.queued = 0

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the rank of the whole."""
        if upper.size_bytes:
            upper.rank, upper.policy_data = lower.rank, lower.policy_data
            self.on_evictable(upper)
            if not lower.size_bytes:
                lower.queued = 0

    def victim(self) -> Entry | None:
        """Return the evictable entry of least rank."""
        heap = self._heap
        while heap:
            rank, age, entry = heap[0]
            if entry.queued != age:
                heappop(heap)
            elif not entry.evictable:
                heappop(heap)
                entry.queued = 0
            elif entry.rank != rank:
                heapreplace(heap, (entry.rank, age, entry))
            else:
                return entry
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, by the present ranks; nothing changes."""
        return leave_by_rank(self._heap)

"""Spans that hold KV but no state, by last use."""

from __future__ import annotations

from heapq import heapify, heappush

from policies.orders.outlook import Outlook
from policies.orders.places import Place, head
from policies.orders.rank_view import RankView
from simulator.plugins.entries import Entry, KvSpan


class Stateless:
    """Finds the span that was used least recently among those without states.

    With `all_kv`, for a pool of KV alone, every span counts as one without states.

    The `rank` of a span is its last use; `policy_data` is the time at which it was given its place,
    None where it has none.
    """

    __slots__ = ("_clock", "_limit", "all_kv", "places")

    def __init__(self) -> None:
        self.all_kv = False
        self._clock = 0
        self._limit = 64
        self.places: list[Place] = []  # a heap, outdated ones among them

    def offer(self, span: KvSpan) -> None:
        """Give a span a place, if it holds KV but no state, and has no resident span below."""
        states = span.checkpoints and not self.all_kv
        if span.size_bytes and not span.children_resident and not states:
            self._clock = clock = self._clock + 1
            span.policy_data = clock
            heappush(self.places, (span.rank, clock, span))
            if len(self.places) > self._limit:
                self._compact()

    def least(self) -> Entry | None:
        """Return the least recently used evictable span, None if there is none."""
        return head(self.places)

    def view(self, outlook: Outlook) -> RankView:
        """Return a view in which spans leave in advance."""
        return RankView(self.places, outlook, "policy_data", renews=True)

    def _compact(self) -> None:
        """Drop outdated items, so that the heap is at most twice as long as needed."""
        self.places = [place for place in self.places if place[2].policy_data == place[1]]
        heapify(self.places)
        self._limit = 2 * len(self.places) + 64

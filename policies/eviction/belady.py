"""Belady's MIN: farthest next use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappush
from typing import ClassVar

from policies.eviction.base import BaseEviction
from policies.foresight import NEVER, Foresight
from policies.orders.places import Place, head
from policies.orders.rank_view import leave_by_rank
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry
from simulator.plugins.protocols import Overlap


class Belady(BaseEviction):
    """Evict what is used farthest in the future. Looks ahead.

    It is blind to size, and takes in everything: never beaten by a policy that must take in
    everything too while all sizes are equal; with unequal sizes, or among prefixes that need each
    other, it is no bound. In the prefix cache, KV is used next when a prompt passes its span, a
    state when a prompt passes its position. Among entries that are never used again, the first
    that came to that state goes first.

    Parameters
    ----------
    bypass
        In flat object mode, let a new object leave at once where its own next use is farthest:
        then no policy at all does better while sizes are equal.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966 (MIN).
    """

    clairvoyant: ClassVar[bool] = True
    observes: ClassVar[bool] = True

    def __init__(self, bypass: bool = False) -> None:
        self.inserts_first = bypass
        self._heap: list[Place] = []  # farthest first; outdated ones among them
        self._clock = 0
        self._request = -1
        self.next_use: Callable[[Entry], int] = _never

    def begin(self, context: CacheContext) -> None:
        """Read the trace."""
        if context.trace is not None:
            foresight = Foresight(context.trace)
            self.next_use = lambda entry: foresight.next_use(entry, self._request)

    def observe(self, overlap: Overlap) -> None:
        """Know which request comes next."""
        self._request = overlap.request

    def on_insert(self, entry: Entry) -> None:
        """Look up when it is used next."""
        entry.rank = -self.next_use(entry)
        self.on_evictable(entry)

    def on_hit(self, entry: Entry) -> None:
        """Look up when it is used next after this."""
        self.on_insert(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it a place among the candidates."""
        self._clock += 1
        heappush(self._heap, (entry.rank, self._clock, entry))
        entry.policy_data = self._clock

    def victim(self) -> Entry | None:
        """Return the evictable entry whose next use is farthest."""
        return head(self._heap)

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, and change nothing."""
        return leave_by_rank(self._heap, "policy_data", renews=True)


def _never(entry: Entry) -> int:
    del entry
    return NEVER

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

    It ignores sizes and admits everything. While all sizes are equal, no policy that admits
    everything does better; with unequal sizes, or among prefixes that need each other, it is no
    bound. In the prefix cache, KV is used next when a prompt passes its span, a
    state when a prompt passes its position. Of entries that are never used again, the first to
    become so leaves first.

    Parameters
    ----------
    bypass
        In flat object mode, evict a new object at once where its own next use is farthest; then
        no policy at all does better while sizes are equal.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966 (MIN).

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("belady", "AB C AB", capacity_bytes=2)  # B is used after A, then C never again
    'BC'
    >>> evicted("belady:bypass=true", "AB C AB", capacity_bytes=2)  # C does not stay at all
    'C'
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
        """Note which request comes next."""
        self._request = overlap.request

    def on_insert(self, entry: Entry) -> None:
        """Look up when it is used next."""
        entry.rank = -self.next_use(entry)
        self.on_evictable(entry)

    def on_hit(self, entry: Entry) -> None:
        """Look up when it is used next after this."""
        self.on_insert(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Push it onto the heap of candidates."""
        self._clock += 1
        heappush(self._heap, (entry.rank, self._clock, entry))
        entry.policy_data = self._clock

    def victim(self) -> Entry | None:
        """Return the evictable entry whose next use is farthest."""
        return head(self._heap)

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        return leave_by_rank(self._heap, "policy_data", renews=True)


def _never(entry: Entry) -> int:
    del entry
    return NEVER

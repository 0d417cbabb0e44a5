"""Least frequently used."""

from __future__ import annotations

from policies.eviction.ranked import Ranked
from simulator.plugins.entries import Entry


class Lfu(Ranked):
    """Evict what was used least often while in the cache; of equals, the least recently used.

    Counts start at 1 with each entry's arrival and are lost when it leaves ("in-cache LFU").

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966 (class 3).

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("lfu", "AAA B C D", capacity_bytes=2)  # A was used most; B and C once each
    'BC'
    >>> evicted("lru", "AAA B C D", capacity_bytes=2)
    'AB'
    """

    def first_rank(self, entry: Entry) -> tuple[int, int]:
        """Return the rank of one use, now."""
        del entry
        return 1, self._clock

    def on_hit(self, entry: Entry) -> None:
        """Count the use."""
        self._clock += 1
        entry.rank = (entry.rank[0] + 1, self._clock)

"""Greedy dual size frequency."""

from __future__ import annotations

from policies.eviction.ranked import Ranked
from simulator.plugins.entries import Entry

_PER_MB = 1e6  # priorities per megabyte rather than per byte, as the reference has them


class Gdsf(Ranked):
    """Evict the least of L + uses / size, where L is the priority of the last victim.

    Small entries and often used ones stay, until L has outgrown those that are no longer used.
    All misses cost the same. In flat object mode a new object enters first and is evicted at once
    where its own priority is the least. Ties go by last use.

    Source: L. Cherkasova, "Improving WWW proxies performance with greedy-dual-size-frequency
    caching policy", HP Labs report HPL-98-69R1, 1998.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("gdsf", "A B C", capacity_bytes=10, A=8, B=2, C=4)  # the largest
    'A'
    >>> evicted("gdsf", "B D", capacity_bytes=10, B=2, D=9)  # which may be the new one
    'D'
    """

    inserts_first = True

    def __init__(self) -> None:
        super().__init__()
        self._aged = 0.0
        self._asked: Entry | None = None

    def first_rank(self, entry: Entry) -> tuple[float, int]:
        """Return the priority of one use."""
        entry.policy_data = 1
        return self._aged + _PER_MB / max(entry.size_bytes, 1), self._clock

    def on_hit(self, entry: Entry) -> None:
        """Count the use."""
        self._clock += 1
        uses = entry.policy_data = entry.policy_data + 1
        priority = self._aged + float(uses) * _PER_MB / max(entry.size_bytes, 1)
        entry.rank = (max(priority, entry.rank[0]), self._clock)

    def on_evict(self, entry: Entry) -> None:
        """Raise L to the priority of the victim; what only left along with it does not count."""
        if entry is self._asked:
            self._aged = entry.rank[0]
            self._asked = None

    def victim(self) -> Entry | None:
        """Return the evictable entry of least priority."""
        self._asked = super().victim()
        return self._asked

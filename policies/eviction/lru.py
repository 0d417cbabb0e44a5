"""Least recently used."""

from __future__ import annotations

from policies.eviction.ranked import Ranked
from simulator.entry import Entry


class Lru(Ranked):
    """Evict what was not used for the longest time.

    A request uses the state that it resumes from, and the KV of its whole path.

    Source: R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
    Journal 9(2), 1970.
    """

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._clock += 1
        entry.rank = self._clock

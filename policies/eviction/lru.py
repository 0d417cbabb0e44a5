"""Least recently used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from policies.eviction.base import BaseEviction
from policies.orders.outlook import Outlook
from simulator.plugins.entries import Entry


class Lru(BaseEviction):
    """Evict what was not used for the longest time.

    A request uses the state that it resumes from, and the KV of its whole path. The cache
    reports that path from its deepest span upwards, so a span is never older than what lies below
    it: the oldest entry is evictable unless a running request has pinned it, and finding the
    victim takes constant time.

    Source: R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
    Journal 9(2), 1970.
    """

    def __init__(self) -> None:
        self._order: OrderedDict[Entry, None] = OrderedDict()  # least recent first

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._order[entry] = None

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent."""
        self._order.move_to_end(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        del self._order[entry]

    def victim(self) -> Entry | None:
        """Return the least recent evictable entry."""
        for entry in self._order:
            if entry.evictable:
                return entry
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, and change nothing."""
        outlook, passed = Outlook(), set()
        for oldest in self._order:
            if not outlook.evictable(oldest):
                passed.add(oldest)
                continue
            entry: Entry | None = oldest
            while entry is not None:
                yield entry
                freed = outlook.let_go(entry)
                entry = freed if freed in passed else None  # older than what comes behind

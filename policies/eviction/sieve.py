"""SIEVE: a hand that moves over a queue and leaves survivors in place."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.base import BaseEviction
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from simulator.plugins.entries import Entry, KvSpan


class Sieve(BaseEviction):
    """Move a hand from the oldest entry to the newest; evict the first that was not hit.

    Survivors lose their mark and keep their place, so new entries are tested soon. The queue is
    held in two parts: what the hand has passed, and what lies ahead of it.

    Source: Y. Zhang et al., "SIEVE is simpler than LRU: an efficient turn-key eviction algorithm
    for web caches", NSDI 2024, algorithm 1.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("sieve", "ABC A DEF", capacity_bytes=3)  # the hand passes A, and goes on from there
    'BCD'
    >>> evicted("clock", "ABC A DEF", capacity_bytes=3)  # its hand comes back to A
    'BCA'
    """

    def __init__(self) -> None:
        self._ahead = Queue()
        self._passed = Queue()

    def on_insert(self, entry: Entry) -> None:
        """Make it the newest, not yet hit."""
        entry.rank = 0
        self._ahead.order[entry] = self._ahead.next_place()

    def on_hit(self, entry: Entry) -> None:
        """Mark it."""
        entry.rank = 1

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._ahead.on_evictable(entry)
        self._passed.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it; where it was the newest, the hand starts over."""
        ahead = self._ahead
        if not ahead.discard(entry):
            self._passed.discard(entry)
        if not ahead.order and not ahead:
            self._start_over()

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, with the mark."""
        upper.rank = lower.rank
        self._ahead.split(upper, lower)
        self._passed.split(upper, lower)

    def victim(self) -> Entry | None:
        """Move the hand to the first evictable entry without a mark."""
        for _ in range(3):  # the rest of this round, a whole one, and one without marks
            ahead, passed = self._ahead, self._passed
            while (entry := ahead.head()) is not None:
                if not entry.rank:
                    return entry
                entry.rank = 0
                if entry in ahead.order:
                    del ahead.order[entry]
                else:
                    ahead.discard(entry)
                passed.order[entry] = passed.next_place()
            self._start_over()
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; only `victim` moves the hand."""
        outlook = Outlook()
        ahead, passed = QueueView(self._ahead, outlook), QueueView(self._passed, outlook)
        cleared: set[Entry] = set()
        rounds = 0
        while rounds < 3:
            entry = ahead.head()
            if entry is None:
                ahead, passed = passed, ahead
                rounds += 1
            elif entry.rank and entry not in cleared:
                cleared.add(entry)
                ahead.discard(entry)
                passed.push(entry)
            else:
                rounds = 0
                yield entry
                freed = outlook.let_go(entry)
                ahead.on_evictable(freed)
                passed.on_evictable(freed)

    def _start_over(self) -> None:
        self._ahead, self._passed = self._passed, self._ahead

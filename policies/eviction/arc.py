"""Adaptive replacement cache."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

from policies.eviction.base import BaseEviction, incoming_spans, share_of
from policies.orders.ghosts import Ghosts
from policies.orders.outlook import Outlook
from policies.orders.queue import ByteQueue, Queue
from policies.orders.queue_view import ByteQueueView, QueueView
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class Arc(BaseEviction):
    """Balance recency against frequency, adapting to what was evicted too early.

    T1 holds entries used once, T2 those used again; B1 and B2 remember what has left them. A
    return from B1 raises the target of T1, one from B2 lowers it.

    The paper has pages of equal size. Here lists and target count in bytes, and the target moves
    by the size of the entry that returns, times the ratio of the ghosts of the other list to those
    of its own, but at least once that size. T1 also gives way where T2 is empty. With equal sizes
    this is the paper's algorithm. In the prefix cache the KV spans of a prompt move the target
    before room is made for any of them, as in the paper; a state moves it once it has entered,
    since it is not known before.

    Source: N. Megiddo and D. S. Modha, "ARC: a self-tuning, low overhead replacement cache",
    FAST 2003, figure 4.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("arc", "AA B C D", capacity_bytes=2)  # A was used twice: B and C pass through T1
    'BC'
    >>> evicted("arc", "AA B C B D", capacity_bytes=2)  # B returns from B1, and A leaves for it
    'BAB'
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self._t1, self._t2 = ByteQueue(), ByteQueue()
        self._b1, self._b2 = Ghosts(), Ghosts()
        self._capacity = float("inf")
        self._target = 0.0
        self._returning: set[Entry] = set()
        self._from_b2 = False
        self._incoming_bytes = self._kv_bytes = 1

    def begin(self, context: CacheContext) -> None:
        """Read the capacity, and the bytes of a token of KV."""
        super().begin(context)
        self._kv_bytes = context.sizes.kv_bytes_per_token

    def observe(self, overlap: Overlap) -> None:
        """Adapt the target to the spans that return, before room is made."""
        self._returning.clear()
        self._from_b2 = False
        for span in incoming_spans(overlap):
            self._note_return(span, (span.stop - span.start) * self._kv_bytes)

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Set the capacity."""
        self._capacity = share_of(capacity_bytes, 1)

    def on_miss(self, entry: Entry) -> None:
        """Adapt the target if it returns, before room is made."""
        self._incoming_bytes = entry.size_bytes
        self._returning.clear()
        self._from_b2 = False
        self._note_return(entry, entry.size_bytes)

    def on_insert(self, entry: Entry) -> None:
        """Put it among those used again if it returns, else among those used once."""
        self._note_return(entry, entry.size_bytes)
        (self._t2 if entry in self._returning else self._t1).push(entry)
        self._returning.discard(entry)
        self._from_b2 = False
        self._incoming_bytes = 1

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent of those used again."""
        if self._t1.discard(entry):
            self._t2.push(entry)
        else:
            self._t2.touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._t1.on_evictable(entry)
        self._t2.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Remember it, and forget the oldest ghost where there are too many."""
        remembers = True
        if not self._returning:
            if self._full():
                remembers = len(self._b1) > 0
                self._b1.drop_oldest()
            elif self._total_bytes() >= 2 * self._capacity:
                self._b2.drop_oldest()
        used, ghosts = (self._t1, self._b1) if entry in self._t1 else (self._t2, self._b2)
        if remembers:
            ghosts.add(entry.key, used.charged[entry])
        used.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, or remember both."""
        self._t1.split(upper, lower)
        self._t2.split(upper, lower)
        self._b1.split(upper.key, lower.key)
        self._b2.split(upper.key, lower.key)

    def victim(self) -> Entry | None:
        """Return the least recent entry of the list that exceeds its target."""
        return self._choose(self._t1, self._t2)

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes.

        The ghosts are not changed: an entry that leaves T1 would count in B1 instead, which makes
        no difference to the choices.
        """
        outlook = Outlook()
        t1, t2 = ByteQueueView(self._t1, outlook), QueueView(self._t2, outlook)
        while (entry := self._choose(t1, t2)) is not None:
            yield entry
            for gone in outlook.leaving(entry):
                t1.discard(gone)
            freed = outlook.let_go(entry)
            t1.on_evictable(freed)
            t2.on_evictable(freed)

    def _choose(self, t1: ByteQueue | ByteQueueView, t2: Queue | QueueView) -> Entry | None:
        """Return the victim, the head of one of the two lists."""
        t1_bytes, target = t1.bytes, self._target
        overfull = not self._returning and not self._b1 and self._overfills(t1_bytes)
        exceeds = t1_bytes > target or (t1_bytes == target and self._from_b2)
        if t1_bytes and (overfull or exceeds or not t2):
            return t1.head() or t2.head()
        return t2.head() or t1.head()

    def _note_return(self, entry: Entry, page_bytes: int) -> None:
        """Move the target if `entry` returns, and remove it from its list of ghosts."""
        b1, b2 = self._b1, self._b2
        if entry.key in b1:
            step = max(b2.bytes / max(b1.bytes, 1), 1) * page_bytes
            self._target = min(self._target + step, self._capacity)
            b1.take(entry.key)
        elif entry.key in b2:
            step = max(b1.bytes / max(b2.bytes, 1), 1) * page_bytes
            self._target = max(self._target - step, 0)
            self._from_b2 = True
            b2.take(entry.key)
        else:
            return
        self._returning.add(entry)

    def _full(self) -> bool:
        """Say whether the incoming entry overfills T1 and B1 together."""
        return self._overfills(self._t1.bytes)

    def _overfills(self, t1_bytes: int) -> bool:
        return t1_bytes + self._b1.bytes + self._incoming_bytes > self._capacity

    def _total_bytes(self) -> int:
        return self._t1.bytes + self._b1.bytes + self._t2.bytes + self._b2.bytes

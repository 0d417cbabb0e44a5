"""Adaptive replacement cache."""

from __future__ import annotations

from fractions import Fraction

from policies.eviction.base import BaseEviction, require_rules, share_of
from policies.eviction.ghosts import Ghosts
from policies.eviction.queue import ByteQueue
from simulator.entry import Entry, KvRun


class Arc(BaseEviction):
    """Balance recency against frequency by what was evicted too early.

    T1 holds entries used once, T2 those used again; B1 and B2 remember what has left them. A
    return from B1 raises the target of T1, one from B2 lowers it.

    The paper has equal sizes. Here everything counts in bytes, a page being the entry at hand, and
    T1 gives way where T2 is empty; with equal sizes this is the paper case by case. The prefix
    cache tells of a return only when the entry is in: then the target moves after room was made
    for it, not before.

    Parameters
    ----------
    rules
        "paper": the target moves by as many times the size of what returns as there are ghosts of
        the other list for each of its own, at least once. "libcachesim": by as many bytes, which
        is the same with sizes of 1, and next to nothing with large ones.

    Source: N. Megiddo and D. S. Modha, "ARC: a self-tuning, low overhead replacement cache",
    FAST 2003, figure 4.
    """

    def __init__(self, rules: str = "paper") -> None:
        self._reference = require_rules(rules)
        self._t1, self._t2 = ByteQueue(), ByteQueue()
        self._b1, self._b2 = Ghosts(), Ghosts()
        self._capacity = float("inf")
        self._target = 0.0
        self._returning: Entry | None = None
        self._from_b2 = False
        self._incoming_bytes = 1

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Learn the capacity."""
        self._capacity = share_of(capacity_bytes, 1)

    def on_miss(self, entry: Entry) -> bool:
        """Adapt the target if it returns, before room is made."""
        self._incoming_bytes = entry.size_bytes
        self._returning = entry if self._adapt(entry) else None
        return True

    def on_insert(self, entry: Entry) -> None:
        """Put it among those used again if it returns, else among those used once."""
        returns = entry is self._returning or self._adapt(entry)
        (self._t2 if returns else self._t1).push(entry)
        self._returning = None
        self._from_b2 = False
        self._incoming_bytes = 1

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent of those used again."""
        if self._t1.discard(entry):
            self._t2.push(entry)
        else:
            self._t2.touch(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it its place again."""
        self._t1.on_evictable(entry)
        self._t2.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Remember it, and forget the oldest ghost where there are too many."""
        remembers = True
        if self._returning is None:
            if self._full():
                remembers = len(self._b1) > 0
                self._b1.drop_oldest()
            elif self._total_bytes() >= 2 * self._capacity:
                self._b2.drop_oldest()
        used, ghosts = (self._t1, self._b1) if entry in self._t1 else (self._t2, self._b2)
        if remembers:
            ghosts.add(entry.key, used.charged[entry])
        used.discard(entry)

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Leave both parts where they stand, or remember both."""
        self._t1.split(upper, lower)
        self._t2.split(upper, lower)
        self._b1.split(upper.key, lower.key)
        self._b2.split(upper.key, lower.key)

    def victim(self) -> Entry | None:
        """Return the least recent entry of the list that exceeds its target."""
        t1_bytes, target = self._t1.bytes, self._target
        no_ghosts = self._returning is None and self._full() and not self._b1
        exceeds = t1_bytes > target or (t1_bytes == target and self._from_b2)
        if t1_bytes and (no_ghosts or exceeds or not self._t2):
            return self._t1.head() or self._t2.head()
        return self._t2.head() or self._t1.head()

    def _adapt(self, entry: Entry) -> bool:
        """Move the target if `entry` is remembered; forget it, and say whether it was."""
        b1, b2 = self._b1, self._b2
        self._from_b2 = False
        page_bytes = 1 if self._reference else entry.size_bytes
        if entry.key in b1:
            step = max(b2.bytes / max(b1.bytes, 1), 1) * page_bytes
            self._target = min(self._target + step, self._capacity)
            return b1.take(entry.key)
        if entry.key in b2:
            step = max(b1.bytes / max(b2.bytes, 1), 1) * page_bytes
            self._target = max(self._target - step, 0)
            self._from_b2 = True
            return b2.take(entry.key)
        return False

    def _full(self) -> bool:
        """Whether the incoming entry overfills T1 and B1 together."""
        return self._t1.bytes + self._b1.bytes + self._incoming_bytes > self._capacity

    def _total_bytes(self) -> int:
        return self._t1.bytes + self._b1.bytes + self._t2.bytes + self._b2.bytes

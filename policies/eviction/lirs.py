"""LIRS: low inter-reference recency set."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from fractions import Fraction

from policies.eviction.base import BaseEviction, exact, require_share, share_of
from policies.orders.ghosts import Ghosts
from policies.orders.queue import ByteQueue
from policies.orders.queue_view import leave_in_turn
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan


class Lirs(BaseEviction):
    """Keep the entries whose last two uses lie close together, whenever that was.

    Most of the capacity is for these entries (LIR, low inter-reference recency); the rest is a
    queue of the others (HIR), which are evicted first. The stack S orders by recency all that was
    used since the oldest LIR entry, evicted HIR entries included: one that is used again while in
    S becomes LIR, and the oldest LIR entry joins the queue instead.

    Parameters
    ----------
    hir
        Share of the capacity for resident HIR entries. Where sizes differ much it may hold few of
        them, and more is better.
    memory
        What S remembers, as a multiple of the capacity, in bytes (the paper has no limit).

    Source: S. Jiang and X. Zhang, "LIRS: an efficient low inter-reference recency set replacement
    policy to improve buffer cache performance", SIGMETRICS 2002.

    Examples
    --------
    A, B and C are LIR entries, D and E enter the queue. The return of D makes it LIR, and A joins
    the queue instead:

    >>> from policies.tryout import evicted
    >>> evicted("lirs:hir=0.25", "ABC D E D F", capacity_bytes=4)
    'DEA'
    """

    def __init__(self, hir: float = 0.01, memory: float = 2.0) -> None:
        require_share("hir", hir)
        require(memory >= 1, "memory", "1 or more", memory)
        self._shares = hir, memory
        self._lir_limit = self._stack_limit = float("inf")
        self._stack: OrderedDict[Hashable, int] = OrderedDict()  # bytes; oldest first
        self._stack_bytes = 0
        self._lir, self._hir = ByteQueue(), ByteQueue()
        self._lir_keys: set[Hashable] = set()
        self._left = Ghosts()  # HIR entries in S that are not resident

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        hir, memory = self._shares
        if capacity_bytes is not None:
            self._lir_limit = share_of(capacity_bytes, 1 - exact(hir))
            self._stack_limit = share_of(capacity_bytes, memory)

    def on_insert(self, entry: Entry) -> None:
        """Make it LIR if it is in S or there is room, else HIR."""
        key = entry.key
        known = self._left.take(key)
        self._raise(entry)
        if known or self._lir.bytes + entry.size_bytes <= self._lir_limit:
            self._lir_keys.add(key)
            self._lir.push(entry)
            self._lower_oldest()
        else:
            self._hir.push(entry)
        self._forget_oldest()

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent; LIR, if it is HIR and in S."""
        key = entry.key
        in_stack = key in self._stack
        self._raise(entry)
        if key in self._lir_keys:
            self._lir.touch(entry)
        elif in_stack:
            self._hir.discard(entry)
            self._lir_keys.add(key)
            self._lir.push(entry)
            self._lower_oldest()
        else:
            self._hir.touch(entry)
        self._prune()
        self._forget_oldest()

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._lir.on_evictable(entry)
        self._hir.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Remember it, if it is HIR and in S."""
        key = entry.key
        if key in self._lir_keys:
            self._lir_keys.remove(key)
            self._lir.discard(entry)
            self._cut(key)
            self._prune()
            return
        if key in self._stack:
            self._left.add(key, self._stack[key])
        self._hir.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Let both parts be LIR or HIR as the whole was; the upper comes to the top of S."""
        key, stack = lower.key, self._stack
        if key in self._left:
            self._left.add(upper.key, 0)
            stack[upper.key] = 0
            return
        if key in self._lir_keys:
            self._lir_keys.add(upper.key)
        self._lir.split(upper, lower)
        self._hir.split(upper, lower)
        if key in stack:
            self._stack_bytes += lower.size_bytes - stack[key]
            stack[key] = lower.size_bytes
            self._raise(upper)
        if upper.resident and not lower.resident:
            self._forget(key)

    def _forget(self, key: Hashable) -> None:
        """Remove a span whose KV has moved to the one above it."""
        self._lir_keys.discard(key)
        if key in self._stack:
            self._cut(key)
        self._prune()

    def victim(self) -> Entry | None:
        """Return the first evictable HIR entry, else the least recent LIR entry."""
        return self._hir.head() or self._lir.head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        return leave_in_turn([self._hir, self._lir])

    def _raise(self, entry: Entry) -> None:
        """Put it on top of S."""
        key, size_bytes = entry.key, entry.size_bytes
        self._stack_bytes += size_bytes - self._stack.pop(key, 0)
        self._stack[key] = size_bytes

    def _cut(self, key: Hashable) -> None:
        """Remove `key` from S."""
        self._stack_bytes -= self._stack.pop(key)

    def _lower_oldest(self) -> None:
        """Move the oldest LIR entries to the queue until the others fit."""
        while self._lir.bytes > self._lir_limit:
            oldest = self._lir.first()
            if oldest is None:
                return
            self._lower(oldest)

    def _lower(self, entry: Entry) -> None:
        """Move a LIR entry to the queue."""
        self._lir.discard(entry)
        self._lir_keys.remove(entry.key)
        self._cut(entry.key)
        self._hir.push(entry)
        self._prune()

    def _prune(self) -> None:
        """Cut S at its oldest LIR entry."""
        while self._stack:
            key = next(iter(self._stack))
            if key in self._lir_keys:
                return
            self._cut(key)
            self._left.take(key)

    def _forget_oldest(self) -> None:
        """Keep S within its limit by forgetting entries that are not resident."""
        while self._stack_bytes > self._stack_limit and self._left:
            self._cut(self._left.drop_oldest())

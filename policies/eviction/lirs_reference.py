"""LIRS as libCacheSim 0.3.5 has it, faults included; for flat object mode only."""

from __future__ import annotations

from collections import OrderedDict
from fractions import Fraction

from policies.eviction.base import BaseEviction, share_of
from simulator.plugins.entries import Entry

_LIR, _HIR, _LEFT = range(3)


class LirsReference(BaseEviction):
    """Do what libCacheSim's LIRS does to the last hit (read from its source, `LIRS.c`).

    Beyond the paper: an object larger than the HIR share enters only while S remembers it; a LIR
    object that is too large for the HIR queue leaves the cache when it is lowered; room is made
    in both parts apart. Two faults are followed too, since hits depend on them: lowering LIR
    objects for a hit in the queue can evict the very object that was hit, which then still counts
    as resident although its bytes are free; and the loop that lowers them goes on with the size
    of the object that has taken the evicted one's memory.

    Parameters
    ----------
    hir, memory
        As for `Lirs`.
    """

    makes_room = True

    def __init__(self, hir: float, memory: float) -> None:
        self._shares = hir, memory
        self._stack: OrderedDict[Entry, int] = OrderedDict()  # status; oldest first
        self._queue: OrderedDict[Entry, None] = OrderedDict()
        self._left: OrderedDict[Entry, None] = OrderedDict()
        self._lir_bytes = self._hir_bytes = self._stack_bytes = 0
        self._lir_limit = self._hir_limit = self._stack_limit = 0.0
        self._phantoms: set[Entry] = set()
        self.condemned = []

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Divide the capacity."""
        hir, memory = self._shares
        capacity = share_of(capacity_bytes, 1)
        self._hir_limit = max(1, share_of(capacity_bytes, hir))
        self._lir_limit = capacity - self._hir_limit
        self._stack_limit = memory * capacity

    def on_miss(self, entry: Entry) -> bool:
        """Make room in the part that the object is to enter."""
        size_bytes = entry.size_bytes
        if entry in self._stack:
            self._stack.move_to_end(entry)
            self._lower_for(size_bytes)
            self._left.pop(entry, None)
            return True
        if size_bytes > self._lir_limit or size_bytes > self._hir_limit:
            return False
        if self._lir_bytes + size_bytes > self._lir_limit:
            while self._hir_bytes + size_bytes > self._hir_limit:
                self._evict_hir()
        return True

    def on_insert(self, entry: Entry) -> None:
        """Make it LIR if it is in S or there is room, else HIR."""
        size_bytes = entry.size_bytes
        if entry not in self._stack:
            self._stack_bytes += size_bytes
            if self._lir_bytes + size_bytes > self._lir_limit:
                self._stack[entry] = _HIR
                self._queue[entry] = None
                self._hir_bytes += size_bytes
                self._forget_oldest()
                return
        self._stack[entry] = _LIR
        self._lir_bytes += size_bytes
        self._forget_oldest()

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent; LIR, if it is HIR and in S."""
        status = self._stack.get(entry)
        if entry in self._queue:
            self._queue.move_to_end(entry)
        if status is None:
            self._hit_in_queue_alone(entry)
        else:
            self._stack.move_to_end(entry)
            if status == _LIR:
                self._prune()
            else:
                self._raise(entry)
        self._forget_oldest()

    def _raise(self, entry: Entry) -> None:
        """Make a HIR object in S LIR."""
        if entry in self._queue:
            del self._queue[entry]
            self._hir_bytes -= entry.size_bytes
        self._phantoms.discard(entry)
        self._lower_for(entry.size_bytes)
        self._stack[entry] = _LIR
        self._lir_bytes += entry.size_bytes

    def _hit_in_queue_alone(self, entry: Entry) -> None:
        size_bytes = entry.size_bytes
        while self._lir_bytes + size_bytes > self._lir_limit:
            self._lower_oldest()
            if entry not in self._queue and self._queue:
                size_bytes = next(reversed(self._queue)).size_bytes
        if entry not in self._queue and self.condemned is not None:
            self.condemned.remove(entry)
            self._phantoms.add(entry)
        self._stack[entry] = _HIR
        self._stack_bytes += entry.size_bytes

    def _lower_for(self, size_bytes: int) -> None:
        while self._lir_bytes + size_bytes > self._lir_limit:
            self._lower_oldest()

    def _lower_oldest(self) -> None:
        """Let the oldest object of S join the queue, if it fits there at all."""
        oldest, _ = self._stack.popitem(last=False)
        size_bytes = oldest.size_bytes
        self._lir_bytes -= size_bytes
        self._stack_bytes -= size_bytes
        if size_bytes <= self._hir_limit:
            while self._hir_bytes + size_bytes > self._hir_limit:
                self._evict_hir()
            self._queue[oldest] = None
            self._hir_bytes += size_bytes
        else:
            self._condemn(oldest)
        self._prune()

    def _evict_hir(self) -> None:
        oldest, _ = self._queue.popitem(last=False)
        self._hir_bytes -= oldest.size_bytes
        if oldest in self._stack:
            self._stack[oldest] = _LEFT
            self._left[oldest] = None
        self._condemn(oldest)

    def _prune(self) -> None:
        """Cut S at its oldest LIR object, but keep the newest."""
        while len(self._stack) > 1:
            oldest = next(iter(self._stack))
            if self._stack[oldest] == _LIR:
                return
            del self._stack[oldest]
            self._left.pop(oldest, None)
            self._stack_bytes -= oldest.size_bytes
            if oldest in self._phantoms:
                self._phantoms.remove(oldest)
                self._condemn(oldest)

    def _forget_oldest(self) -> None:
        while self._stack_bytes > self._stack_limit and self._left:
            oldest, _ = self._left.popitem(last=False)
            self._stack_bytes -= oldest.size_bytes
            del self._stack[oldest]

    def _condemn(self, entry: Entry) -> None:
        if self.condemned is not None:
            self.condemned.append(entry)

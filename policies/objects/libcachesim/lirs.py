"""LIRS as in libCacheSim, including its faults."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from policies.eviction import lirs
from policies.objects.libcachesim.cache import LibPolicy


class LibLirs(LibPolicy, lirs.Lirs):
    """LIRS as in libCacheSim: make room in each part apart, and demote LIR objects for all hits.

    HIR objects have 1 % of the capacity; an object larger than that does not enter. Two faults are
    reproduced, since hits depend on them: demoting LIR objects for a hit on an object that is in
    the queue and no longer in S can evict that very object, which then still counts as resident
    though its bytes are free; and the loop that demotes them goes on with the size of the object
    that has taken the evicted one's memory. Where the capacity is two, or objects change their
    size, the faults have further effects, which are not reproduced.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("lirs:rules=libcachesim", "ABCDEFGHI J K", capacity_bytes=10, J=2)
    ''
    >>> evicted("lirs", "ABCDEFGHI J K", capacity_bytes=10, J=2)
    'AJ'
    """

    def __init__(self) -> None:
        super().__init__()
        self._phantoms: dict[Hashable, Any] = {}

    def start(self, capacity_bytes: Any) -> None:
        """Divide the capacity."""
        self._hir_limit = max(1, capacity_bytes // 100)
        self._lir_limit = capacity_bytes - self._hir_limit
        self._stack_limit = 2 * capacity_bytes

    def may_enter(self, entry: Any) -> bool:
        """Make room in the part that the object is to enter."""
        if entry.key in self._left:
            self._raise(entry)
            while self._lir and self._lir.bytes + entry.size_bytes > self._lir_limit:
                self._lower(self._lir.first())
            return True
        if entry.size_bytes > min(self._lir_limit, self._hir_limit):
            return False
        if self._lir.bytes + entry.size_bytes > self._lir_limit:
            self._clear_queue(entry.size_bytes)
        return True

    def on_hit(self, entry: Any) -> None:
        """Demote LIR objects also where it is in the queue and no longer in S."""
        if entry.key not in self._stack:
            self._hir.touch(entry)
            self._lower_for(entry)
        elif self._phantoms.pop(entry.key, None):
            self.cache.used_bytes += entry.size_bytes
        super().on_hit(entry)

    def _lower_for(self, entry: Any) -> None:
        size_bytes = entry.size_bytes
        while self._lir and self._lir.bytes + size_bytes > self._lir_limit:
            self._lower(self._lir.first())
            if entry not in self._hir and self._hir:
                size_bytes = next(reversed(self._hir.order)).size_bytes
        if entry not in self._hir:
            entry.evictable = True  # though its bytes are free
            self._phantoms[entry.key] = entry

    def _lower(self, entry: Any) -> None:
        if entry.size_bytes > self._hir_limit:
            self.cache.evict(entry)
            return
        self._clear_queue(entry.size_bytes)
        super()._lower(entry)

    def _clear_queue(self, size_bytes: int) -> None:
        while self._hir.bytes + size_bytes > self._hir_limit:
            self.cache.evict(self._hir.first())

    def _prune(self) -> None:
        """Cut S at its oldest LIR entry, but keep the newest."""
        while len(self._stack) > 1 and (key := next(iter(self._stack))) not in self._lir_keys:
            self._cut(key)
            self._left.take(key)
            if (phantom := self._phantoms.pop(key, None)) is not None:
                phantom.evictable = False

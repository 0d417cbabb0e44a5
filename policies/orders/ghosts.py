"""Ghosts: a memory of evicted entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable


class Ghosts:
    """Keys and sizes of evicted entries, oldest first, within a limit of bytes.

    Parameters
    ----------
    limit_bytes
        The oldest are forgotten when the sizes sum to more; a larger entry is not remembered.
    """

    __slots__ = ("_sizes", "bytes", "limit_bytes")

    def __init__(self, limit_bytes: float = float("inf")) -> None:
        self.limit_bytes = limit_bytes
        self.bytes = 0
        self._sizes: OrderedDict[Hashable, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._sizes

    def add(self, key: Hashable, size_bytes: int) -> None:
        """Remember `key`; one that is known keeps its place."""
        if key in self._sizes or size_bytes > self.limit_bytes:
            return
        while self.bytes + size_bytes > self.limit_bytes:
            self.drop_oldest()
        self._sizes[key] = size_bytes
        self.bytes += size_bytes

    def split(self, upper: Hashable, lower: Hashable) -> None:
        """Remember `upper` as well, if `lower` is remembered, whose bytes count for both."""
        if lower in self._sizes:
            self.add(upper, 0)

    def take(self, key: Hashable) -> bool:
        """Forget `key`, and say whether it was known."""
        size_bytes = self._sizes.pop(key, None)
        if size_bytes is None:
            return False
        self.bytes -= size_bytes
        return True

    def drop_oldest(self) -> Hashable:
        """Forget the oldest key and return it; None if there is none."""
        if not self._sizes:
            return None
        key, size_bytes = self._sizes.popitem(last=False)
        self.bytes -= size_bytes
        return key

"""What the placer, the admission and the eviction of one cache know together."""

from __future__ import annotations

from typing import Protocol

from policies.worth.points import ReturnPoints
from simulator.plugins.context import CacheContext


class Displacing(Protocol):
    """An order of states that can say what making room would cost."""

    asked: bool

    def loss_of(self, size_bytes: int) -> float: ...


class Worth:
    """What states are worth, learned once for all policies of a cache."""

    def __init__(self, context: CacheContext) -> None:
        self.points = ReturnPoints(context.grid)
        self.order: Displacing | None = None

    @classmethod
    def of(cls, context: CacheContext) -> Worth:
        """Return that of the cache."""
        known = context.common.get(cls)
        if known is None:
            known = context.common[cls] = cls(context)
        assert isinstance(known, cls)
        return known

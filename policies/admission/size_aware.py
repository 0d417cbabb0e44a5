"""Admission by size."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from policies.parameters import require
from simulator.plugins.context import CacheContext
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry


class SizeAware(BaseAdmission):
    """Admit additions of at most a share of the capacity; all of them in an unbounded cache.

    Parameters
    ----------
    share
        Share of the capacity; a larger addition is refused.

    Source: M. Abrams et al., "Caching proxies: limitations and potentials", WWW 1995
    (LRU-THOLD).

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["aaaaaa", "bbb"], admission="size_aware:share=0.5", capacity_bytes=10).kv
    ['bbb']
    """

    def __init__(self, share: float = 0.1) -> None:
        require(0 < share <= 1, "share", "a share above 0, up to 1", share)
        self._share = share
        self._most_bytes = float("inf")

    def begin(self, context: CacheContext) -> None:
        """Read the capacity."""
        if context.capacity_bytes is not None:
            self._most_bytes = self._share * context.capacity_bytes

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether it is small enough."""
        del candidate, departures
        return size_bytes <= self._most_bytes

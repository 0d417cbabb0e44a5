"""The common ground of admission policies that are asked."""

from __future__ import annotations

from typing import ClassVar

from simulator.plugins.context import CacheContext
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class BaseAdmission:
    """An admission policy that is asked and does not look ahead."""

    always: ClassVar[bool] = False
    clairvoyant: ClassVar[bool] = False
    observes: ClassVar[bool] = False

    def begin(self, context: CacheContext) -> None:
        """Learn about the cache, before the first request; by default nothing is needed."""

    def observe(self, overlap: Overlap) -> None:
        """Learn which request comes next; by default it does not matter."""

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Know the upper part of a span as the whole was known; by default nothing is known."""

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether `size_bytes` more of `candidate` enter the cache; by default they do."""
        del candidate, size_bytes, departures
        return True


_MASK = (1 << 64) - 1


def identity(entry: Entry) -> int:
    """Return 64 bits that name an entry by its kind and by the prefix that ends with it.

    The prefix is named by the first request that brought it, and by its length. So they are the
    same in every run in which the same requests come in this order, whatever the policies do and
    what comes later.
    """
    if isinstance(entry, KvSpan):
        request, position = entry.request, ~entry.stop
    else:
        request, position = entry.span.request, entry.position
    return _mix(_mix(request) ^ position)


def _mix(value: int) -> int:
    """Return SplitMix64's output for a state (G. Steele et al., OOPSLA 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)

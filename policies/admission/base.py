"""Defaults for admission policies, and 64-bit names of entries."""

from __future__ import annotations

from typing import ClassVar

from simulator.plugins.context import CacheContext
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class BaseAdmission:
    """Base class of admission policies: by default it admits all that it is asked about."""

    always: ClassVar[bool] = False
    clairvoyant: ClassVar[bool] = False
    observes: ClassVar[bool] = False

    def begin(self, context: CacheContext) -> None:
        """Read the context, before the first request; by default nothing."""

    def observe(self, overlap: Overlap) -> None:
        """Note which request comes next; by default nothing."""

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Copy what is known of a split span to its upper part; by default nothing."""

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether `size_bytes` more of `candidate` enter the cache; by default they do."""
        del candidate, size_bytes, departures
        return True


_MASK = (1 << 64) - 1


def identity(entry: Entry) -> int:
    """Return a 64-bit name of an entry, from its kind and the prefix that ends with it.

    The prefix is identified by its length and the first request that contained it. So the name is
    the same in every run with the same earlier requests, whatever the policies do.
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

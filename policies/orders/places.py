"""Heaps of entries by rank, with outdated items among them."""

from __future__ import annotations

from heapq import heappop
from typing import Any

from simulator.plugins.entries import Entry

Place = tuple[Any, int, Any]  # rank, time at which it was given, entry


def head(places: list[Place]) -> Entry | None:
    """Return the evictable entry of least rank in a heap of places, popping those before it.

    A place counts while its time is the `policy_data` of its entry. An entry that is not evictable
    loses its place, and is no longer `queued`: it must be given another when that changes.
    """
    while places:
        _, time, entry = places[0]
        if entry.policy_data == time:
            if entry.evictable:
                least: Entry = entry
                return least
            entry.queued = False
        heappop(places)
    return None

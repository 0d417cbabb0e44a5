"""Iteration over a heap in order, without changing it."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any


def in_order(heap: list[Any]) -> Iterator[Any]:
    """Yield the items of a heap from the least; the k-th costs O(log k).

    The heap must not change meanwhile. Items that are equal come in any order.
    """
    reached = [(heap[0], 0)] if heap else []  # candidates for the next item, none below another
    while reached:
        item, index = heappop(reached)
        yield item
        for below in (2 * index + 1, 2 * index + 2):
            if below < len(heap):
                heappush(reached, (heap[below], below))

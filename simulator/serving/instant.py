"""The instant scheduler, whose steps take no simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import ClassVar

from simulator.cache.interface import Cache
from simulator.serving.step import Chunk, Step


class Instant:
    """A scheduler that runs each request completely before the next one arrives.

    There is no queueing: time to first token is the service time alone. A request that does not fit
    into the cache is rejected.

    Parameters
    ----------
    cache
        The cache of the replica.
    reject
        Called with the index of a rejected request.
    """

    timeless: ClassVar[bool] = True

    def __init__(self, cache: Cache, reject: Callable[[int], None]) -> None:
        self._cache = cache
        self._reject = reject
        self._waiting: deque[tuple[int, float]] = deque()  # request, arrival

    def arrive(self, request: int, now_seconds: float) -> None:
        """Enqueue a request, after those that arrived at the same instant before it."""
        self._waiting.append((request, now_seconds))

    def next_step(self, now_seconds: float) -> Step | None:
        """Return the next request as one step, or None if there is none."""
        del now_seconds  # each request runs at its arrival time
        while self._waiting:
            request, arrival_seconds = self._waiting.popleft()
            running = self._cache.admit(request, arrival_seconds)
            if running is not None:
                self._cache.plan(running, running.end)
                return Step([Chunk(running, running.computed, running.end)])
            self._reject(request)
        return None

    def waiting(self) -> Iterator[int]:
        """Return the waiting requests; none between steps."""
        return (request for request, _ in self._waiting)

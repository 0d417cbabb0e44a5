"""Each request at once: only the order of arrivals counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import ClassVar

from simulator.cache.interface import Cache
from simulator.serving.step import Chunk, Step


class Instant:
    """Runs each request completely before the next arrives.

    Its time to first token is the service time alone. A request for which the cache can make no
    room is rejected.

    Parameters
    ----------
    cache
        The cache of the replica.
    reject
        Called with a request that is rejected.
    """

    timeless: ClassVar[bool] = True

    def __init__(self, cache: Cache, reject: Callable[[int], None]) -> None:
        self._cache = cache
        self._reject = reject
        self._waiting: deque[tuple[int, float]] = deque()  # request, arrival

    def arrive(self, request: int, now_seconds: float) -> None:
        """Let a request wait for those that have arrived at the same instant before it."""
        self._waiting.append((request, now_seconds))

    def next_step(self, now_seconds: float) -> Step | None:
        """Return the next request, as a whole."""
        del now_seconds  # each runs at its own arrival
        while self._waiting:
            request, arrival_seconds = self._waiting.popleft()
            running = self._cache.admit(request, arrival_seconds)
            if running is not None:
                self._cache.plan(running, running.end)
                return Step([Chunk(running, running.computed, running.end)])
            self._reject(request)
        return None

    def waiting(self) -> Iterator[int]:
        """Yield the requests that wait: none when a step has ended."""
        return (request for request, _ in self._waiting)

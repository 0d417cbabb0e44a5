"""First come, first served: one prefill at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import ClassVar

from simulator.cache.interface import Cache
from simulator.cache.request import Running
from simulator.serving.step import Chunk, Step


class Fcfs:
    """Runs each prompt whole, in the order of arrival.

    Requests that arrive at one instant are matched at one instant, when the first of them starts:
    none can use what another is still computing. So two simultaneous first requests for one
    document both miss. All others are matched when their own prefill starts.

    One for which the cache has no room waits, and all behind it, until the running ones have
    ended; where none runs, room will never be made, and it is rejected.

    Parameters
    ----------
    cache
        The cache of the replica.
    reject
        Called with a request that is rejected.
    queue_limit
        Requests that may wait; one that would have to wait behind so many is rejected. None: no
        limit.
    """

    timeless: ClassVar[bool] = False

    def __init__(
        self, cache: Cache, reject: Callable[[int], None], queue_limit: int | None = None
    ) -> None:
        self._cache = cache
        self._reject = reject
        self._queue_limit = queue_limit
        self._waiting: deque[tuple[int, float]] = deque()  # request, arrival
        self._matched: deque[Running] = deque()  # arrived with the running one
        self._runs = False

    def arrive(self, request: int, now_seconds: float) -> None:
        """Let a request wait, or reject it."""
        limit = self._queue_limit
        if limit is not None and self._must_wait_behind() >= limit:
            self._reject(request)
        else:
            self._waiting.append((request, now_seconds))

    def next_step(self, now_seconds: float) -> Step | None:
        """Return the prefill of the next request."""
        while not self._matched and self._waiting:
            self._match_next(now_seconds)
        self._runs = bool(self._matched)
        if not self._matched:
            return None
        running = self._matched.popleft()
        return Step([Chunk(running, running.computed, running.end)])

    def waiting(self) -> Iterator[int]:
        """Yield the requests that wait."""
        yield from (running.request for running in self._matched)
        yield from (request for request, _ in self._waiting)

    def _must_wait_behind(self) -> int:
        """Return how many wait; the first that an idle server has taken does not, so -1 is idle."""
        return len(self._waiting) + len(self._matched) - (not self._runs)

    def _match_next(self, now_seconds: float) -> None:
        """Match all that arrived together with the first that waits, as far as there is room."""
        waiting = self._waiting
        together_seconds = waiting[0][1]
        while waiting and waiting[0][1] == together_seconds:
            request = waiting[0][0]
            running = self._cache.admit(request, now_seconds)
            if running is not None:
                self._cache.plan(running, running.end)
                self._matched.append(running)
            elif self._matched:
                return
            else:
                self._reject(request)
            waiting.popleft()

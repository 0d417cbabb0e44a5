"""The first-come-first-served scheduler, with one prefill at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import ClassVar

from simulator.cache.interface import Cache
from simulator.cache.request import Running
from simulator.serving.step import Chunk, Step


class Fcfs:
    """A scheduler that runs each prompt as a whole, in order of arrival.

    Requests that arrive at the same instant are matched together when the first of them starts, so
    none can reuse what another is about to compute. All others are matched when their own prefill
    starts.

    A request that does not fit into the cache waits, with all requests after it, until running
    requests have ended. If none is running it can never fit, and is rejected.

    Parameters
    ----------
    cache
        The cache of the replica.
    reject
        Called with the index of a rejected request.
    queue_limit
        Largest number of waiting requests; further ones are rejected. None for no limit.
    """

    timeless: ClassVar[bool] = False

    def __init__(
        self, cache: Cache, reject: Callable[[int], None], queue_limit: int | None = None
    ) -> None:
        self._cache = cache
        self._reject = reject
        self._queue_limit = queue_limit
        self._waiting: deque[tuple[int, float]] = deque()  # request, arrival
        self._matched: deque[Running] = deque()  # not started; arrived with the running one
        self._runs = False

    def arrive(self, request: int, now_seconds: float) -> None:
        """Enqueue a request, or reject it if the queue is full."""
        limit = self._queue_limit
        if limit is not None and self._must_wait_behind() >= limit:
            self._reject(request)
        else:
            self._waiting.append((request, now_seconds))

    def next_step(self, now_seconds: float) -> Step | None:
        """Return the prefill of the next request, or None if there is none."""
        while not self._matched and self._waiting:
            self._match_next(now_seconds)
        self._runs = bool(self._matched)
        if not self._matched:
            return None
        running = self._matched.popleft()
        return Step([Chunk(running, running.computed, running.end)])

    def waiting(self) -> Iterator[int]:
        """Yield the waiting requests."""
        yield from (running.request for running in self._matched)
        yield from (request for request, _ in self._waiting)

    def _must_wait_behind(self) -> int:
        """Return the number of waiting requests, less one if the server is idle."""
        return len(self._waiting) + len(self._matched) - (not self._runs)

    def _match_next(self, now_seconds: float) -> None:
        """Match all requests that arrived together with the first waiting one, if they fit."""
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

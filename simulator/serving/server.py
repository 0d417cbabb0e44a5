"""Servers: who runs when.

Requests that arrive at one instant are matched at one instant, when the first of them starts:
none can use what another is still computing. So two simultaneous first requests for one
document both miss. All others are matched when their own prefill starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from simpy import Environment
from simpy.events import Event

from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Grant
from simulator.costs.cost_model import CostModel
from simulator.results.records import FINISHED, LOSSES, REJECTED, UNFINISHED, Records
from simulator.serving.clock import after
from simulator.trace.trace import Trace


class Server(Protocol):
    """Takes requests as they arrive."""

    def arrive(self, first: int, last: int, arrival_seconds: float) -> None:
        """Take the requests `[first, last)` of the trace, which arrive at one instant."""
        ...

    def stop(self) -> None:
        """Record the requests that have arrived and not finished."""
        ...


class Prefills:
    """What servers share: admit, price, publish, release, record.

    Parameters
    ----------
    trace
        The requests.
    cache
        The cache of the replica.
    costs
        Seconds of restore, prefill and capture.
    on_finished
        Called after each request that finishes, if anything is to be.
    """

    def __init__(
        self,
        trace: Trace,
        cache: PolicyCache,
        costs: CostModel,
        on_finished: Callable[[], None] | None,
    ) -> None:
        self.records = Records(len(trace))
        self.cache = cache
        self._costs = costs
        self._restore_seconds = costs.restore_seconds(cache.store.sizes.state_bytes)
        self._on_finished = on_finished
        self._leaf = trace.leaf.data
        self._stop = trace.tree.stop.data

    def seconds(self, grant: Grant) -> tuple[float, float, float]:
        """Return the seconds of restore, prefill and capture of an admitted request."""
        costs, positions = self._costs, grant.positions
        resume, stop = grant.resume, grant.leaf.stop
        if positions and positions[-1] > stop:  # states of the answer come after the first token
            positions = [position for position in positions if position <= stop]
        restore = self._restore_seconds if resume else 0.0
        capture = costs.capture_seconds(resume, stop, positions) if positions else 0.0
        return restore, costs.prefill_seconds(resume, stop), capture

    def finish(
        self,
        request: int,
        grant: Grant,
        arrival_seconds: float,
        wait_seconds: float,
        seconds: tuple[float, float, float],
    ) -> None:
        """Publish what a request has computed, release what it used, and record it."""
        self.cache.publish(grant, arrival_seconds + wait_seconds + sum(seconds))
        self.cache.release(grant)
        pool, written = self.cache.store.pool, grant.written
        self.records.add(
            request,
            FINISHED,
            grant.leaf.stop,
            grant.resume,
            grant.overlap,
            grant.kv_depth,
            *grant.losses,
            0,  # it was served
            len(written),
            pool.checkpoints,
            pool.checkpoint_bytes,
            pool.kv_bytes,
            arrival_seconds,
            wait_seconds,
            *seconds,
        )
        if written:
            self.records.add_positions(request, [state.position for state in written])
        if self._on_finished is not None:
            self._on_finished()

    def record_unserved(self, request: int, status: int, arrival_seconds: float) -> None:
        """Record a request that was rejected or has not finished: all its tokens are lost."""
        tokens, pool = self._stop[self._leaf[request]], self.cache.store.pool
        held = (pool.checkpoints, pool.checkpoint_bytes, pool.kv_bytes)
        nothing = (0,) * (3 + len(LOSSES) - 1)  # saved, matched; the losses of those served
        times = (arrival_seconds, 0.0, 0.0, 0.0, 0.0)
        self.records.add(request, status, tokens, *nothing, tokens, 0, *held, *times)


class InstantServer:
    """Serves each request completely before the next arrives: only the order counts.

    Its time to first token is the service time alone.
    """

    def __init__(self, prefills: Prefills) -> None:
        self._prefills = prefills

    def arrive(self, first: int, last: int, arrival_seconds: float) -> None:
        """Serve the requests one after another."""
        prefills = self._prefills
        for request in range(first, last):
            grant = prefills.cache.admit(request, arrival_seconds)
            prefills.finish(request, grant, arrival_seconds, 0.0, prefills.seconds(grant))

    def stop(self) -> None:
        """Nothing is ever left."""


class QueueServer:
    """One prefill at a time, first come first served.

    Parameters
    ----------
    env
        The clock.
    prefills
        What it runs.
    queue_limit
        Requests that may wait; one that would have to wait behind so many is rejected. None: no
        limit.
    """

    def __init__(self, env: Environment, prefills: Prefills, queue_limit: int | None) -> None:
        self._env = env
        self._prefills = prefills
        self._queue_limit = queue_limit
        self._waiting: deque[tuple[int, float]] = deque()  # request, arrival
        self._matched: deque[tuple[int, float, Grant]] = deque()  # arrived with the running one
        self._running: tuple[int, float, Grant, float, tuple[float, float, float]] | None = None

    def arrive(self, first: int, last: int, arrival_seconds: float) -> None:
        """Let the requests wait, and start the first of them if nothing runs."""
        for request in range(first, last):
            if self._queue_limit is not None and self._must_wait_behind() >= self._queue_limit:
                self._prefills.record_unserved(request, REJECTED, arrival_seconds)
            else:
                self._waiting.append((request, arrival_seconds))
        if self._running is None:
            self._start_next()

    def stop(self) -> None:
        """Record what runs and what waits."""
        if self._running is not None:
            self._prefills.record_unserved(self._running[0], UNFINISHED, self._running[1])
        for request, arrival_seconds, _ in self._matched:
            self._prefills.record_unserved(request, UNFINISHED, arrival_seconds)
        for request, arrival_seconds in self._waiting:
            self._prefills.record_unserved(request, UNFINISHED, arrival_seconds)

    def _must_wait_behind(self) -> int:
        """Return how many wait; the first that an idle server has taken does not, so -1 is idle."""
        return len(self._waiting) + len(self._matched) - (self._running is None)

    def _start_next(self) -> None:
        if not self._matched:
            self._match_next()
        if not self._matched:
            return
        request, arrival_seconds, grant = self._matched.popleft()
        seconds = self._prefills.seconds(grant)
        # The clock adds up delays, so it may stand an ulp before the arrival itself.
        wait_seconds = max(0.0, self._env.now - arrival_seconds)
        self._running = (request, arrival_seconds, grant, wait_seconds, seconds)
        after(self._env, sum(seconds), self._end)

    def _match_next(self) -> None:
        """Match all that arrived together with the first that waits."""
        waiting = self._waiting
        if not waiting:
            return
        together_seconds = waiting[0][1]
        while waiting and waiting[0][1] == together_seconds:
            request, arrival_seconds = waiting.popleft()
            grant = self._prefills.cache.admit(request, self._env.now)
            self._matched.append((request, arrival_seconds, grant))

    def _end(self, event: Event) -> None:
        del event
        if self._running is not None:
            request, arrival_seconds, grant, wait_seconds, seconds = self._running
            self._running = None
            self._prefills.finish(request, grant, arrival_seconds, wait_seconds, seconds)
        self._start_next()

"""Delivery of the trace's requests to the replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from simulator.serving.interfaces import Clock, Router
from simulator.serving.replica import Replica
from simulator.trace.trace import Trace


class Arrivals:
    """A cursor over the trace that delivers requests at their arrival times.

    It schedules one callback per distinct arrival time.

    Parameters
    ----------
    clock
        Simulated time.
    trace
        The requests. Without arrival times all arrive at time 0, in trace order.
    replicas, router
        The replicas, and the router that chooses one for each request.
    """

    def __init__(
        self, clock: Clock, trace: Trace, replicas: Sequence[Replica], router: Router
    ) -> None:
        self._clock = clock
        self._replicas = replicas
        self._router = router
        times = np.zeros(len(trace)) if trace.arrival_seconds is None else trace.arrival_seconds
        # numpy's stub types `.data` as integers, which mypyc would rely on.
        self._times = cast("memoryview[float]", times.data)
        self._next = 0

    def begin(self) -> None:
        """Schedule the first arrival."""
        self._wait()

    def _wait(self) -> None:
        """Schedule the next arrival, if there is one."""
        if self._next < len(self._times):
            delay = self._times[self._next] - self._clock.now
            self._clock.after(max(0.0, delay), self._arrive)

    def _arrive(self, _: object) -> None:
        """Deliver all requests with the next arrival time to replicas."""
        clock, times, replicas = self._clock, self._times, self._replicas
        if clock.peek() <= clock.now:  # a step ends at the same time: it takes precedence
            clock.after(0.0, self._arrive)
            return
        first = last = self._next
        now = times[first]
        while last < len(times) and times[last] == now:
            last += 1
        self._next = last
        for request in range(first, last):
            chosen = self._router.choose(request, replicas) if len(replicas) > 1 else 0
            replicas[chosen].arrive(request, now)
        for replica in replicas:
            replica.wake()
        self._wait()

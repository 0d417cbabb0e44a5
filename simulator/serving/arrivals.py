"""Arrivals: the requests of a trace come to the replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from simulator.serving.interfaces import Clock, Router
from simulator.serving.replica import Replica
from simulator.trace.trace import Trace


class Arrivals:
    """One cursor over the sorted trace; one callback for each distinct time.

    Parameters
    ----------
    clock
        The time.
    trace
        The requests. Without times only their order is known, and all come at time 0.
    replicas, router
        Where they go. One replica needs no choice.
    """

    def __init__(
        self, clock: Clock, trace: Trace, replicas: Sequence[Replica], router: Router
    ) -> None:
        self._clock = clock
        self._replicas = replicas
        self._router = router
        times = np.zeros(len(trace)) if trace.arrival_seconds is None else trace.arrival_seconds
        # Numpy says that all columns hold whole numbers, which compiled code would believe.
        self._times = cast("memoryview[float]", times.data)
        self._next = 0

    def begin(self) -> None:
        """Wait for the first arrival."""
        self._wait()

    def _wait(self) -> None:
        if self._next < len(self._times):
            delay = self._times[self._next] - self._clock.now
            self._clock.after(max(0.0, delay), self._arrive)

    def _arrive(self, _: object) -> None:
        clock, times, replicas = self._clock, self._times, self._replicas
        if clock.peek() <= clock.now:  # a step ends now too, and goes first
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

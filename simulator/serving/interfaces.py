"""Protocols of the parts of a server: scheduler, executor, router, clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from simulator.base.errors import MilepostError
from simulator.cache.interface import Cache
from simulator.serving.step import Step, StepSeconds


class ClockError(MilepostError):
    """A delay that is negative or not finite: a bug in a policy, a scheduler or a profile."""


class Scheduler(Protocol):
    """Decides what a replica runs next, and calls `admit` and `plan` of the cache for it.

    With `timeless = True`, steps take no simulated time: only the order of arrivals matters, and
    `next_step` is called until it returns None.
    """

    timeless: ClassVar[bool]

    def arrive(self, request: int, now_seconds: float) -> None:
        """Accept a request that has arrived, or reject it."""
        ...

    def next_step(self, now_seconds: float) -> Step | None:
        """Return the step to run now, or None if there is nothing to run; no step is running."""
        ...

    def waiting(self) -> Iterable[int]:
        """Return the requests that have arrived and have neither ended nor been rejected.

        Those of the running step may be left out.
        """
        ...


# Creates a replica's scheduler from its cache and a function to call with rejected requests.
SchedulerFactory = Callable[[Cache, Callable[[int], None]], Scheduler]


class Executor(Protocol):
    """Executes a step (the chunks that run together), or estimates its duration."""

    def seconds(self, step: Step) -> StepSeconds:
        """Return the seconds that a step spends on loading states, computing, and storing states.

        It is called after the positions of states to store were planned.
        """
        ...


class ReplicaView(Protocol):
    """The information about a replica that a router may use."""

    @property
    def number(self) -> int:
        """Index of the replica."""
        ...

    @property
    def unfinished(self) -> int:
        """Number of requests assigned to it that have not finished, running ones included."""
        ...


class Router(Protocol):
    """Assigns each request to a replica."""

    def choose(self, request: int, replicas: Sequence[ReplicaView]) -> int:
        """Return the index of the replica that serves a request arriving now."""
        ...


class Clock(Protocol):
    """Simulated time, driven by callbacks."""

    @property
    def now(self) -> float:
        """Seconds since the first arrival."""
        ...

    def peek(self) -> float:
        """Return the time of the next callback, infinity if there is none."""
        ...

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Schedule a callback after a delay; the argument it receives has no meaning.

        Callbacks at the same time run in the order in which they were scheduled.

        Raises
        ------
        ClockError
            If the delay is negative or not finite.
        """
        ...

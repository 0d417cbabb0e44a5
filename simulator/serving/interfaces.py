"""What the parts of a replica promise each other: clock, scheduler, executor, router."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from simulator.base.errors import MilepostError
from simulator.cache.interface import Cache
from simulator.serving.step import Step, StepSeconds


class ClockError(MilepostError):
    """A delay that is not finite and non-negative: a bug of a policy, a scheduler or a profile."""


class Scheduler(Protocol):
    """Decides what a replica runs next; it admits and plans what it runs.

    With `timeless = True` steps take no time on the clock: only the order of arrivals counts, and
    `next_step` is asked until it has nothing left.
    """

    timeless: ClassVar[bool]

    def arrive(self, request: int, now_seconds: float) -> None:
        """Take a request that has arrived, or reject it."""
        ...

    def next_step(self, now_seconds: float) -> Step | None:
        """Return what runs from now on, None where nothing can; the last step has ended."""
        ...

    def waiting(self) -> Iterable[int]:
        """Return the requests that have arrived and neither ended nor were rejected.

        Those of the step that runs may be left out.
        """
        ...


# Makes the scheduler of a replica: its cache, and what is to be called with a rejected request.
SchedulerFactory = Callable[[Cache, Callable[[int], None]], Scheduler]


class Executor(Protocol):
    """Does the work of a step, or says what it would take."""

    def seconds(self, step: Step) -> StepSeconds:
        """Return the seconds of restore, prefill and capture; captures are planned by now."""
        ...


class ReplicaView(Protocol):
    """What a router sees of a replica."""

    @property
    def number(self) -> int:
        """Its place among the replicas."""
        ...

    @property
    def unfinished(self) -> int:
        """Requests that it has been given and has not finished, running ones included."""
        ...


class Router(Protocol):
    """Sends each request to a replica."""

    def choose(self, request: int, replicas: Sequence[ReplicaView]) -> int:
        """Return the number of the replica that serves a request which arrives now."""
        ...


class Clock(Protocol):
    """Simulated time: it goes on when all that is due has been done."""

    @property
    def now(self) -> float:
        """Seconds since the first arrival."""
        ...

    def peek(self) -> float:
        """Return when the next callback is due, infinity for none."""
        ...

    def after(self, delay_seconds: float, callback: Callable[[object], None]) -> None:
        """Call back after a delay, with whatever the clock keeps of it.

        Those that are due at one time come in the order in which they were asked for.

        Raises
        ------
        ClockError
            If the delay is negative or not finite.
        """
        ...

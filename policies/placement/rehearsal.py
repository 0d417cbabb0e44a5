"""Plans with foresight, rehearsed in the very cache that they are for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from policies.placement.adaptive import Adaptive
from policies.placement.base import BasePlacer
from policies.placement.branch import Branch
from policies.placement.feasible import FeasiblePlan
from policies.placement.holding import ResumeOptions
from policies.placement.last import Last
from policies.placement.schedule import (
    Schedule,
    logged_schedule,
    planned_schedule,
    resumed_schedule,
)
from simulator.plugins.context import SPAN, CacheContext
from simulator.plugins.protocols import Placer, Prefix, Window
from simulator.results.result import Result
from simulator.trace.trace import Trace

# Of longer traces fewer plans are rehearsed: for ages 16 times apart rather than twice.
LONG = 10_000
MOST_PRUNED = 4  # times that what was not used is left out of a plan
Rehearse = Callable[[Placer], Result]


@dataclass(slots=True)
class Planned(BasePlacer):
    """Stores what a schedule says.

    Parameters
    ----------
    schedule
        Where each request should store states.
    plan
        What the cache should keep; None if its eviction policy should not follow a plan.
    """

    schedule: Schedule
    plan: FeasiblePlan | None = None

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the scheduled positions behind the resume point."""
        if prefix.request < 0:
            return ()
        return self.schedule.positions(prefix.request, prefix.resume)


def best_plan(trace: Trace, context: CacheContext) -> Planned:
    """Return the best plan that is known for a cache and its eviction policy.

    An unbounded cache, and a bounded one whose eviction policy follows the plan, save all that is
    planned. Elsewhere some plans are rehearsed.
    """
    options = ResumeOptions.of(trace, context.grid, context.sizes)
    capacity_bytes = context.capacity_bytes
    plan = FeasiblePlan(trace, options, capacity_bytes, whole_nodes=context.cut == SPAN)
    planned = Planned(planned_schedule(trace, plan), plan)
    if context.rehearse is None or capacity_bytes is None:
        return planned
    return _Rehearsals(trace, options, context.rehearse).best(planned, plan.saved_tokens)


@dataclass(slots=True)
class _Rehearsals:
    """The rehearsals of plans, of which the best is kept.

    Parameters
    ----------
    trace, options
        All requests, and where each could resume.
    rehearse
        Replays the trace with a placer.
    """

    trace: Trace
    options: ResumeOptions
    rehearse: Rehearse
    _best: Planned | None = field(init=False, default=None)
    _most_tokens: int = field(init=False, default=-1)

    def best(self, planned: Planned, planned_tokens: int) -> Planned:
        """Return the best of a plan for a cache that follows it, and of others for one that won't.

        The others let each request resume as deep as it can from what was passed by so many
        requests before, for several such limits; or they are what placers without foresight
        store, and of that only what was used, as long as that saves more.
        """
        self._try(planned)
        if self._most_tokens < planned_tokens:
            for resume in self._limited():
                self._try(Planned(resumed_schedule(self.trace, resume)))
            for placer in (Last(), Branch(), Adaptive()):
                result = self.rehearse(placer)
                self._try(Planned(logged_schedule(self.trace, result)))
                self._prune(result.columns["saved_tokens"])
        assert self._best is not None
        return self._best

    def _try(self, planned: Planned) -> NDArray[np.int64]:
        """Rehearse a plan, keep it if it saves most, and return what each request saves."""
        saved: NDArray[np.int64] = self.rehearse(planned).columns["saved_tokens"]
        if int(saved.sum()) > self._most_tokens:
            self._best, self._most_tokens = planned, int(saved.sum())
        return saved

    def _prune(self, saved: NDArray[np.int64]) -> None:
        """Store only what was used, again and again while that saves more."""
        tokens = -1
        for _ in range(1 if self.options.requests > LONG else MOST_PRUNED):
            if int(saved.sum()) <= tokens:
                return
            tokens = int(saved.sum())
            saved = self._try(Planned(resumed_schedule(self.trace, saved)))

    def _limited(self) -> Iterator[NDArray[np.int64]]:
        """Yield resume points whose states were passed at most so many requests before."""
        limit = self.options.requests
        while limit:
            recent = np.flatnonzero(self.options.age <= limit)
            resume = np.zeros(self.options.requests, np.int64)
            resume[self.options.request[recent]] = self.options.position[recent]
            yield resume
            limit //= 16 if self.options.requests > LONG else 2

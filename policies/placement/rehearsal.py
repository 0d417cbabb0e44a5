"""Plans with foresight, rehearsed in the very cache that they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policies.placement.base import BasePlacer
from policies.placement.feasible import FeasiblePlan
from policies.placement.holding import ResumeOptions
from policies.placement.schedule import Schedule, planned_schedule
from simulator.plugins.context import SPAN, CacheContext
from simulator.plugins.protocols import Prefix, Window
from simulator.results.result import Result
from simulator.trace.trace import Trace


@dataclass(slots=True)
class Planned(BasePlacer):
    """Stores what a schedule says.

    Parameters
    ----------
    schedule
        Where each request should store states.
    plan
        What eviction should keep; None if it should not follow a plan.
    """

    schedule: Schedule
    plan: FeasiblePlan | None = None

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the scheduled positions behind the resume point."""
        if prefix.request < 0:
            return ()
        return self.schedule.positions(prefix.request, prefix.resume)


def best_plan(trace: Trace, context: CacheContext) -> Planned:
    """Return the best plan that is known for a cache."""
    options = ResumeOptions.of(trace, context.grid, context.sizes)
    plan = FeasiblePlan(
        trace, options, context.capacity_bytes, whole_nodes=context.cut == SPAN
    )
    return Planned(planned_schedule(trace, plan), plan)


def saved(result: Result) -> int:
    """Return the tokens that a replay saves."""
    return int(result.columns["saved_tokens"].sum())

"""Compares simulated with measured times of a served trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from calibration.prototype.executor import most_tokens
from calibration.prototype.queueing import at_load, priced_anew
from calibration.prototype.quick import QuickProfiler
from calibration.prototype.rules import Rules
from calibration.prototype.run import Outcome, Prototype
from calibration.prototype.served import Served
from calibration.prototype.site import Site
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from simulator.serving.priced import PricedExecutor
from simulator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a prototype run: what is served, with which policies and profile.

    Parameters
    ----------
    trace
        Requests with arrival times.
    rules
        Policies and capacity.
    profile
        Cost profile for simulated times; None to measure one here, between requests.
    load
        Rescale arrival times to this load, see `queueing.at_load`; None to keep them.
    passes
        Number of times the trace is served.
    seed
        Seed of token ids and order.
    """

    trace: Trace
    rules: Rules
    profile: Profile | None = None
    load: float | None = None
    passes: int = 3
    seed: int = 0


def compare(
    site: Site, plan: Plan, on_served: Callable[[Served], None] | None = None
) -> tuple[Profile, Outcome]:
    """Serve a trace through a model; return the cost profile and the measured outcome.

    Parameters
    ----------
    site
        The model and its machine.
    plan
        What is served.
    on_served
        Called with each served request.

    Raises
    ------
    UsageError, InexactError
        As `run.Prototype` does, and if memory runs out.
    """
    with site.at_work():
        return _compared(site, plan, on_served)


def _compared(
    site: Site, plan: Plan, on_served: Callable[[Served], None] | None
) -> tuple[Profile, Outcome]:
    """Serve a trace and price it; the model's environment is already set up."""
    clock, profiler, profile = site.clock(plan.profile), None, plan.profile
    if profile is None:
        profiler = QuickProfiler(
            site.model, site.subject.name, clock, longest=most_tokens(plan.trace), seed=plan.seed
        )
        profiler.measure(profiler.points)
        profile = profiler.profile()
        profiler.restart()
    trace = plan.trace
    if plan.load is not None:
        trace = at_load(trace, CostModel(profile), plan.load)
    prototype = Prototype(trace, profile, plan.rules, site.model, clock, plan.seed)
    for _ in range(plan.passes):
        prototype.serve(_with_points(profiler, len(trace), on_served))
    outcome = prototype.outcome()
    if profiler is not None:
        profile = profiler.profile()
        executor = PricedExecutor(CostModel(profile), profile.state_bytes)
        outcome = replace(outcome, served=tuple(priced_anew(outcome.served, executor)))
    return profile, outcome


def _with_points(
    profiler: QuickProfiler | None, requests: int, on_served: Callable[[Served], None] | None
) -> Callable[[Served], None]:
    """Return a function, called after each request, that times prefills for the profile.

    They are spread evenly over a pass of the trace, so that each is timed as often, and under the
    same conditions, as every request; with more repetitions its minimum would be smaller.
    """
    done = 0

    def note(served: Served) -> None:
        nonlocal done
        if profiler is not None:
            before, after = (profiler.points * k // requests for k in (done, done + 1))
            profiler.measure(after - before)
        done += 1
        if on_served is not None:
            on_served(served)

    return note

"""A scenario: what a trace is replayed through, as specs from which each replica is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf

from simulator.base.errors import UsageError
from simulator.cache.layout import PagedLayout, layout_of, pool_names
from simulator.cache.policy_cache import PolicyCache
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from simulator.plugins.context import CUTS, TAIL, CacheContext, Sizes
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.serving.fcfs import Fcfs
from simulator.serving.instant import Instant
from simulator.serving.interfaces import Router, SchedulerFactory
from simulator.serving.router import RoundRobin
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

# One prefill at a time; or none that takes time, where only the order of arrivals counts.
SERVERS: dict[str, type[Fcfs] | type[Instant]] = {"queue": Fcfs, "instant": Instant}


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a trace is replayed through.

    Policies learn, so a scenario holds what makes them, such as their class: every replica has
    its own, and a scenario can be run any number of times.

    Parameters
    ----------
    profile
        The model on its hardware: bytes and seconds.
    placer, admission
        Make the policies.
    eviction
        Makes the eviction policy of every pool, or a mapping with one for each pool by its name.
    capacity_bytes
        The budget of a replica for KV and states; None is unbounded.
    pools
        "unified": one pool. "split:states=64", "split:states=8GiB": so many slots, or bytes, for
        states, the rest for KV.
    server
        "queue": one prefill at a time, first come first served. "instant": each request is
        served completely before the next arrives. Or what makes a scheduler.
    alignment
        Positions are floored to multiples of it; None takes the profile's.
    cut
        What a KV span gives up when it is evicted, one of `simulator.plugins.context.CUTS`.
    count_running
        Whether what running requests hold beyond the cache counts against the budget.
    queue_limit
        Requests that may wait before further ones are rejected; None: no limit.
    replicas
        How many there are, each with a cache of its own.
    router
        Makes what sends requests to replicas.
    horizon_seconds
        When to stop, counted from the first arrival; None: when all are served.
    check_every_request
        Recount the cache after every request (slow).
    """

    profile: Profile
    placer: Callable[[], Placer]
    eviction: Callable[[], EvictionPolicy] | Mapping[str, Callable[[], EvictionPolicy]]
    admission: Callable[[], AdmissionPolicy]
    capacity_bytes: int | None = None
    pools: str = "unified"
    server: str | SchedulerFactory = "queue"
    alignment: int | None = None
    cut: str = TAIL
    count_running: bool = False
    queue_limit: int | None = None
    replicas: int = 1
    router: Callable[[], Router] = RoundRobin
    horizon_seconds: float | None = None
    check_every_request: bool = False


def cache_of(trace: Trace, scenario: Scenario, context: CacheContext) -> PolicyCache:
    """Return the cache of a replica, with policies of its own.

    Raises
    ------
    UsageError
        If the pools are none, or the eviction policies are not of these pools.
    """
    return PolicyCache(
        trace,
        context,
        scenario.placer(),
        scenario.admission(),
        _layout_of(trace, scenario, context),
        count_running=scenario.count_running,
    )


def context_of(trace: Trace, scenario: Scenario) -> CacheContext:
    """Return what policies are told before the first request.

    Raises
    ------
    UsageError
        If the alignment or the cut is none.
    """
    profile = scenario.profile
    alignment = profile.alignment if scenario.alignment is None else scenario.alignment
    if alignment < 1:
        raise UsageError(f"alignment must be at least 1 token, not {alignment}")
    if scenario.cut not in CUTS:
        raise _unknown("cut", scenario.cut, CUTS)
    return CacheContext(
        Sizes(profile.kv_bytes_per_token, profile.state_bytes, profile.page_tokens),
        Grid(trace.granularity, alignment),
        CostModel(profile),
        scenario.capacity_bytes,
        scenario.cut,
    )


def _layout_of(trace: Trace, scenario: Scenario, context: CacheContext) -> PagedLayout:
    eviction = scenario.eviction
    names = pool_names(scenario.pools)
    if isinstance(eviction, Mapping) and set(eviction) != set(names):
        raise UsageError(
            f"eviction policies of the pools {', '.join(sorted(eviction))}; pools "
            f"'{scenario.pools}' have {' and '.join(names)}"
        )

    def order_of(pool: str) -> EvictionPolicy:
        return eviction[pool]() if isinstance(eviction, Mapping) else eviction()

    return layout_of(
        scenario.pools,
        context.sizes,
        scenario.cut,
        scenario.capacity_bytes,
        order_of,
        timed=trace.arrival_seconds is not None,
    )


def refuse_misfits(trace: Trace, scenario: Scenario) -> None:
    """Refuse what cannot be run on this trace.

    Raises
    ------
    UsageError
        Saying what it needs.
    """
    timeless = _is_timeless(scenario.server)
    if trace.arrival_seconds is None and not timeless:
        raise UsageError(f"trace '{trace.name}' has no arrival times: state a rate of arrivals")
    if not scenario.profile.tells_times and not timeless:
        raise UsageError(
            f"profile '{scenario.profile.profile_id}' tells sizes, and no times that a "
            f"{scenario.server} server needs: take the instant server (--server instant)"
        )
    horizon = scenario.horizon_seconds
    if horizon is not None and not 0 < horizon < inf:
        raise UsageError(f"the horizon must be a positive number of seconds, not {horizon}")
    if scenario.replicas < 1:
        raise UsageError(f"there must be at least 1 replica, not {scenario.replicas}")


def schedule_of(scenario: Scenario) -> SchedulerFactory:
    """Return what makes the scheduler of a replica.

    Raises
    ------
    UsageError
        If the server is unknown.
    """
    server = scenario.server
    if not isinstance(server, str):
        return server
    if server not in SERVERS:
        raise _unknown("server", server, tuple(SERVERS))
    scheduler = SERVERS[server]
    if scheduler is Fcfs:
        return partial(Fcfs, queue_limit=scenario.queue_limit)
    return scheduler


def _is_timeless(server: str | SchedulerFactory) -> bool:
    """Say whether only the order of arrivals counts; a class of one's own may say so too."""
    scheduler = SERVERS.get(server) if isinstance(server, str) else server
    return bool(getattr(scheduler, "timeless", False))


def _unknown(what: str, value: str, known: tuple[str, ...]) -> UsageError:
    return UsageError(f"unknown {what} '{value}'; expected one of: {', '.join(known)}")

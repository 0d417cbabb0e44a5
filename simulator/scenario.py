"""The configuration of a simulation, from which each replica's cache and policies are built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf

from simulator.base.errors import UsageError, printable
from simulator.cache.entry_cache import TREE, EntryCache, EntryRule, parse_kind
from simulator.cache.layout import UNIFIED, PagedLayout, layout_of, pool_names
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.state_cap import CapRule, parse_cap
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

# "queue" runs one prefill at a time; with "instant" a prefill takes no time.
SERVERS: dict[str, type[Fcfs] | type[Instant]] = {"queue": Fcfs, "instant": Instant}


@dataclass(frozen=True, slots=True)
class Scenario:
    """The configuration of one simulation: cost profile, cache, policies, servers.

    Policies are stateful, so a scenario holds factories for them (such as their classes), not
    instances. Every replica gets its own, and one scenario can be run any number of times.

    Parameters
    ----------
    profile
        The cost profile of a model on its hardware: sizes in bytes, times in seconds.
    placer, admission
        Factories of the placement and the admission policy.
    eviction
        Factory of the eviction policy for every pool, or a mapping from pool names to factories.
    capacity_bytes
        Memory of one replica for KV and states, in bytes; None for unbounded.
    pools
        "unified": KV and states share one budget. "split:states=64" or "split:states=8GiB": that
        many slots, or bytes, are reserved for states; the rest is for KV.
    cache
        "tree": prompts share the KV and the states of common prefixes. "entries:last=20" or
        "entries:per_document=20": so many whole prompts are kept, each with its own
        (`simulator.cache.entry_cache`).
    states_per_prefix
        The largest number of states that are resident for a prefix: "path:8" or "8" of one path
        from the root, "entry:8" of what one request was the first to bring. None for any number.
    server
        "queue": one prefill at a time, first come first served. "instant": each request is served
        completely before the next arrives. Otherwise a factory of a scheduler.
    alignment
        Checkpoint positions are rounded down to multiples of it, in tokens; None for the profile's.
    cut
        How much of a KV span is evicted at once: one of `simulator.plugins.context.CUTS`.
    count_running
        Whether memory that running requests use outside the cache counts against the capacity.
    queue_limit
        Largest number of waiting requests; further ones are rejected. None for no limit.
    replicas
        Number of replicas, each with its own cache.
    router
        Factory of the router, which assigns requests to replicas.
    horizon_seconds
        End of the simulation, counted from the first arrival; None to run until all are served.
    check_every_request
        Recount the cache after every request to detect bugs (slow).
    """

    profile: Profile
    placer: Callable[[], Placer]
    eviction: Callable[[], EvictionPolicy] | Mapping[str, Callable[[], EvictionPolicy]]
    admission: Callable[[], AdmissionPolicy]
    capacity_bytes: int | None = None
    pools: str = UNIFIED
    server: str | SchedulerFactory = "queue"
    alignment: int | None = None
    cut: str = TAIL
    count_running: bool = False
    cache: str = TREE
    states_per_prefix: str | None = None
    queue_limit: int | None = None
    replicas: int = 1
    router: Callable[[], Router] = RoundRobin
    horizon_seconds: float | None = None
    check_every_request: bool = False


def cache_of(trace: Trace, scenario: Scenario, context: CacheContext) -> PolicyCache | EntryCache:
    """Build the cache of one replica, with its own policies.

    Raises
    ------
    UsageError
        If the cache, its pools or the cap on states is invalid, the eviction policies are not those
        of its pools, or a setting does not apply to a cache of entries.
    """
    rule = parse_kind(scenario.cache)
    if rule is not None:
        return _entry_cache(trace, scenario, context, rule)
    return policy_cache_of(trace, scenario, context)


def policy_cache_of(trace: Trace, scenario: Scenario, context: CacheContext) -> PolicyCache:
    """Build the cache of one replica in which prompts share prefixes; errors as `cache_of`."""
    return PolicyCache(
        trace,
        context,
        scenario.placer(),
        scenario.admission(),
        _layout_of(trace, scenario, context),
        count_running=scenario.count_running,
        cap=_cap_of(scenario),
    )


def _cap_of(scenario: Scenario) -> CapRule | None:
    """Return the cap on the states of a prefix, if there is one."""
    cap = scenario.states_per_prefix
    return None if cap is None else parse_cap(cap)


def _entry_cache(
    trace: Trace, scenario: Scenario, context: CacheContext, rule: EntryRule
) -> EntryCache:
    """Build a cache of whole entries, for which some settings have no meaning."""
    admission, eviction = scenario.admission(), scenario.eviction
    refused = {
        "pools other than unified": scenario.pools != UNIFIED or isinstance(eviction, Mapping),
        "an admission policy other than always": not admission.always,
        "counting what running requests hold": scenario.count_running,
    }
    for what, asked in refused.items():
        if asked:
            raise UsageError(f"cache '{printable(scenario.cache, 60)}' does not know {what}")
    order = eviction() if callable(eviction) else next(iter(eviction.values()))()
    return EntryCache(trace, context, scenario.placer(), rule, order, _cap_of(scenario))


def context_of(trace: Trace, scenario: Scenario) -> CacheContext:
    """Return the sizes, costs and capacity that policies receive before the first request.

    Raises
    ------
    UsageError
        If the alignment or the cut is invalid.
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
    """Build the pools of one replica, each with its eviction policy."""
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
    """Check that the scenario can be run on this trace.

    Raises
    ------
    UsageError
        If the trace lacks arrival times that the server needs, the profile lacks times, or the
        horizon or the number of replicas is out of range.
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
    """Return the factory of each replica's scheduler.

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
    """Tell whether the server ignores times; a scheduler class declares it by `timeless = True`."""
    scheduler = SERVERS.get(server) if isinstance(server, str) else server
    return bool(getattr(scheduler, "timeless", False))


def _unknown(what: str, value: str, known: tuple[str, ...]) -> UsageError:
    """Return the error for an unknown value of a setting."""
    return UsageError(f"unknown {what} '{value}'; expected one of: {', '.join(known)}")

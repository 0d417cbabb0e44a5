"""The entry point of the simulator: replays a trace through a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.base.collector import collector_paused
from simulator.cache.interface import Cache
from simulator.cache.request import Running
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Placer
from simulator.results.records import FINISHED, SERVICE_COLUMNS, TTFT_COLUMN, Records
from simulator.results.result import Counters, PoolCounters, Result
from simulator.scenario import Scenario, cache_of, context_of, refuse_misfits, schedule_of
from simulator.serving.arrivals import Arrivals
from simulator.serving.clock import SimpyClock
from simulator.serving.interfaces import SchedulerFactory
from simulator.serving.priced import PricedExecutor
from simulator.serving.replica import Replica
from simulator.trace.trace import Trace

__all__ = ["Scenario", "simulate"]

PROGRESS_EVERY = 1024


def simulate(
    trace: Trace, scenario: Scenario, on_progress: Callable[[int], None] | None = None
) -> Result:
    """Replay `trace` through `scenario` and return one record per request.

    The result is deterministic, bit for bit. Requests that arrive at the same instant are taken in
    trace order, after a prefill that ends at that instant. Events at the horizon itself are not
    simulated.

    Parameters
    ----------
    trace
        The requests. Arrival times are required unless the server is "instant".
    scenario
        The cost profile, cache, policies and servers.
    on_progress
        Called every 1,024 finished requests with the number finished so far.

    Raises
    ------
    UsageError
        If the scenario cannot be run on this trace.
    IntegrityError
        If the final recount of the cache finds an inconsistency (a bug).
    """
    context, schedule = context_of(trace, scenario), schedule_of(scenario)
    refuse_misfits(trace, scenario)
    context = replace(context, rehearse=partial(_rehearsed, trace, scenario))
    started = time.perf_counter()
    with collector_paused():
        result = _run(trace, scenario, context, schedule, on_progress)
    return replace(result, wall_seconds=time.perf_counter() - started)


def _rehearsed(trace: Trace, scenario: Scenario, placer: Placer) -> Result:
    """Return the result of the same scenario with another placement policy."""
    return simulate(trace, replace(scenario, placer=lambda: placer, check_every_request=False))


def _run(
    trace: Trace,
    scenario: Scenario,
    context: CacheContext,
    schedule: SchedulerFactory,
    on_progress: Callable[[int], None] | None,
) -> Result:
    """Simulate and build the result; its `wall_seconds` is filled in by the caller."""
    clock, records = SimpyClock(), Records.of(trace)
    # `_replay` frees the caches when it returns, which makes room for the columns.
    pools, loaded = _replay(trace, scenario, context, schedule, clock, records, on_progress)
    profile, columns = scenario.profile, records.columns()
    if not profile.tells_times:
        columns |= {
            name: np.full(len(columns["status"]), np.nan)
            for name in (*SERVICE_COLUMNS, TTFT_COLUMN)
        }
    return Result(
        columns=columns,
        counters=Counters.of(pools, profile.kv_bytes_per_token, _extrapolated(columns, profile)),
        simulated_seconds=float(clock.now),
        wall_seconds=0.0,
        full_seconds=_full_seconds(columns, context.costs) if loaded else None,
        positions=records.positions(),
    )


def _replay(
    trace: Trace,
    scenario: Scenario,
    context: CacheContext,
    schedule: SchedulerFactory,
    clock: SimpyClock,
    records: Records,
    on_progress: Callable[[int], None] | None,
) -> tuple[list[PoolCounters], bool]:
    """Fill the records; return the counters of all pools, and whether server load is defined.

    It is defined for one replica whose server takes time.
    """
    caches = [cache_of(trace, scenario, context) for _ in range(scenario.replicas)]
    on_finished = _finished_hook(caches, scenario, on_progress)
    executor = PricedExecutor(context.costs, context.sizes.state_bytes)
    replicas = [
        Replica(cache, schedule, executor, clock, records, number, on_finished)
        for number, cache in enumerate(caches)
    ]
    Arrivals(clock, trace, replicas, scenario.router()).begin()
    clock.run(until=scenario.horizon_seconds)
    for replica in replicas:
        replica.stop()
    pools = []
    for number, cache in enumerate(caches):
        cache.check()
        cache.tree.clear()
        pools += [pool.counters(number) for pool in cache.pools.values()]
    return pools, len(replicas) == 1 and not replicas[0].timeless


def _full_seconds(columns: dict[str, NDArray[Any]], costs: CostModel) -> NDArray[np.float64]:
    """Return the prefill time of each request without a cache, in seconds."""
    lengths, where = np.unique(columns["prompt_tokens"], return_inverse=True)
    seconds = np.array([costs.prefill_seconds(0, length) for length in lengths.tolist()])
    return seconds[where] if len(lengths) else np.zeros(0)


def _extrapolated(columns: dict[str, NDArray[Any]], profile: Profile) -> int:
    """Count finished requests whose lengths exceed the measured range of the profile."""
    computed = columns["prompt_tokens"] - columns["saved_tokens"]
    beyond = (computed > profile.valid_n_max) | (columns["saved_tokens"] > profile.valid_c_max)
    return int((beyond & (columns["status"] == FINISHED)).sum())


def _finished_hook(
    caches: Sequence[Cache],
    scenario: Scenario,
    on_progress: Callable[[int], None] | None,
) -> Callable[[Running], None] | None:
    """Return a function to call after each request, or None if there is nothing to do.

    It checks the cache and reports progress.
    """
    if on_progress is None and not scenario.check_every_request:
        return None
    finished = 0

    def hook(running: Running) -> None:
        nonlocal finished
        del running
        finished += 1
        for cache in caches if scenario.check_every_request else ():
            cache.check()
        if on_progress is not None and finished % PROGRESS_EVERY == 0:
            on_progress(finished)

    return hook

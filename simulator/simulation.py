"""Replays a trace through a cache: the event loop."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simpy import Environment
from simpy.events import Event

from simulator.base.collector import collector_paused
from simulator.base.errors import UsageError
from simulator.cache.policy_cache import PolicyCache
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from simulator.plugins.context import CacheContext, Sizes
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.results.records import FINISHED, SERVICE_COLUMNS, TTFT_COLUMN
from simulator.results.result import Counters, Result
from simulator.serving.clock import after
from simulator.serving.server import InstantServer, Prefills, QueueServer, Server
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

SERVERS = ("queue", "instant")
EVICTS = ("tail", "block", "run")
PROGRESS_EVERY = 1024


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a trace is replayed through. Policies may learn: give each run its own.

    Parameters
    ----------
    profile
        The model on its hardware: bytes and seconds.
    placer, eviction, admission
        The policies.
    capacity_bytes
        One budget for KV and states; None is unbounded.
    server
        "queue": one prefill at a time, first come first served. "instant": each request is
        served completely before the next arrives.
    alignment
        Positions are floored to multiples of it; None takes the profile's.
    evicts
        What a KV run gives up when it is evicted. "tail": as much of its end as is short, in whole
        pages, as block caches do. "block": the same, but a prompt that is too large for the cache
        ends one page earlier: room is made for each page, and at last its own last one goes.
        "run": all of it, as radix trees do.
    queue_limit
        Requests that may wait before further ones are rejected; None: no limit.
    horizon_seconds
        When to stop, counted from the first arrival; None: when all are served.
    check_every_request
        Recount the cache after every request (slow).
    """

    profile: Profile
    placer: Placer
    eviction: EvictionPolicy
    admission: AdmissionPolicy
    capacity_bytes: int | None = None
    server: str = "queue"
    alignment: int | None = None
    evicts: str = "tail"
    queue_limit: int | None = None
    horizon_seconds: float | None = None
    check_every_request: bool = False


def simulate(
    trace: Trace, scenario: Scenario, on_progress: Callable[[int], None] | None = None
) -> Result:
    """Replay `trace` and return one record a request.

    The same trace and scenario give the same result, to the bit. Requests that arrive at one
    instant are taken in the order of the trace, behind a prefill that ends at that instant; what
    would happen at the horizon itself does not happen any more.

    Parameters
    ----------
    trace
        The requests; with arrival times, unless the server is "instant".
    scenario
        The cache, its policies and the server.
    on_progress
        Called now and then with the number of requests that have finished.

    Raises
    ------
    UsageError
        If the scenario cannot be run on this trace.
    IntegrityError
        If the cache's books do not balance at the end: a bug.
    """
    if trace.arrival_seconds is None and scenario.server != "instant":
        raise UsageError(f"trace '{trace.name}' has no arrival times: state a rate of arrivals")
    if not scenario.profile.tells_times and scenario.server != "instant":
        raise UsageError(
            f"profile '{scenario.profile.profile_id}' tells sizes, and no times that a "
            f"{scenario.server} server needs: take the instant server (--server instant)"
        )
    horizon = scenario.horizon_seconds
    if horizon is not None and not 0 < horizon < inf:
        raise UsageError(f"the horizon must be a positive number of seconds, not {horizon}")
    started = time.perf_counter()
    with collector_paused():
        try:
            result = _run(trace, scenario, on_progress)
        except struct.error:
            raise UsageError(
                f"profile '{scenario.profile.profile_id}' makes the cache hold 2**63 bytes or more"
            ) from None
    return replace(result, wall_seconds=time.perf_counter() - started)


def _run(trace: Trace, scenario: Scenario, on_progress: Callable[[int], None] | None) -> Result:
    env = Environment()
    context = _context(trace, scenario)
    policies = scenario.placer, scenario.admission, scenario.eviction
    cache = PolicyCache(trace, context, *policies)
    prefills = Prefills(trace, cache, context.costs, _finished_hook(cache, scenario, on_progress))
    server = _server(env, prefills, scenario)
    Arrivals(env, trace, server).begin()
    env.run(until=scenario.horizon_seconds)
    server.stop()
    cache.check()
    cache.tree.clear()
    columns = prefills.records.columns()
    if not scenario.profile.tells_times:
        columns |= {
            name: np.full(len(columns["status"]), np.nan)
            for name in (*SERVICE_COLUMNS, TTFT_COLUMN)
        }
    return Result(
        columns=columns,
        counters=Counters.of(cache.store, _extrapolated(columns, scenario.profile)),
        simulated_seconds=float(env.now),
        wall_seconds=0.0,
        full_seconds=None
        if scenario.server == "instant"
        else _full_seconds(columns, context.costs),
        positions=prefills.records.positions(),
    )


def _full_seconds(columns: dict[str, NDArray[Any]], costs: CostModel) -> NDArray[np.float64]:
    """Return the prefill of each request, nothing being saved."""
    lengths, where = np.unique(columns["prompt_tokens"], return_inverse=True)
    seconds = np.array([costs.prefill_seconds(0, length) for length in lengths.tolist()])
    return seconds[where] if len(lengths) else np.zeros(0)


def _extrapolated(columns: dict[str, NDArray[Any]], profile: Profile) -> int:
    """Count the requests whose times lie beyond the measured range of the profile."""
    computed = columns["prompt_tokens"] - columns["saved_tokens"]
    beyond = (computed > profile.valid_n_max) | (columns["saved_tokens"] > profile.valid_c_max)
    return int((beyond & (columns["status"] == FINISHED)).sum())


class Arrivals:
    """One cursor over the sorted trace; an event for each distinct time."""

    def __init__(self, env: Environment, trace: Trace, server: Server) -> None:
        self._env = env
        self._server = server
        # Without times only the order is known, and only the instant server takes such a trace.
        times = np.zeros(len(trace)) if trace.arrival_seconds is None else trace.arrival_seconds
        self._times = times.data
        self._next = 0

    def begin(self) -> None:
        """Wait for the first arrival."""
        self._wait()

    def _wait(self) -> None:
        if self._next < len(self._times):
            delay = self._times[self._next] - self._env.now
            after(self._env, max(0.0, delay), self._arrive)

    def _arrive(self, event: Event) -> None:
        del event
        if self._env.peek() <= self._env.now:  # a prefill ends now too, and goes first
            after(self._env, 0.0, self._arrive)
            return
        times, first = self._times, self._next
        now = times[first]
        last = first + 1
        while last < len(times) and times[last] == now:
            last += 1
        self._next = last
        self._server.arrive(first, last, now)
        self._wait()


def _context(trace: Trace, scenario: Scenario) -> CacheContext:
    profile = scenario.profile
    alignment = profile.alignment if scenario.alignment is None else scenario.alignment
    if alignment < 1:
        raise UsageError(f"alignment must be at least 1 token, not {alignment}")
    if scenario.evicts not in EVICTS:
        raise _unknown("evicts", scenario.evicts, EVICTS)
    return CacheContext(
        Sizes(profile.kv_bytes_per_token, profile.state_bytes, profile.page_tokens),
        Grid(trace.granularity, alignment),
        CostModel(profile),
        scenario.capacity_bytes,
        whole_spans=scenario.evicts == "run",
        takes_own=scenario.evicts == "block",
    )


def _server(env: Environment, prefills: Prefills, scenario: Scenario) -> Server:
    if scenario.server == "instant":
        return InstantServer(prefills)
    if scenario.server == "queue":
        return QueueServer(env, prefills, scenario.queue_limit)
    raise _unknown("server", scenario.server, SERVERS)


def _unknown(what: str, found: str, known: tuple[str, ...]) -> UsageError:
    return UsageError(f"unknown {what} '{found}'; expected one of: {', '.join(known)}")


def _finished_hook(
    cache: PolicyCache, scenario: Scenario, on_progress: Callable[[int], None] | None
) -> Callable[[], None] | None:
    """Return what is to be called after each request, or None."""
    if on_progress is None and not scenario.check_every_request:
        return None
    finished = 0

    def hook() -> None:
        nonlocal finished
        finished += 1
        if scenario.check_every_request:
            cache.check()
        if on_progress is not None and finished % PROGRESS_EVERY == 0:
            on_progress(finished)

    return hook

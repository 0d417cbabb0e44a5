"""Caches set up by hand, and requests taken through them."""

from __future__ import annotations

from typing import Any

from policies.admission.always import Always
from policies.eviction.lru import Lru
from simulator.cache.layout import unified
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Running
from simulator.cache.state_cap import CapRule
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import TAIL, CacheContext, Sizes
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, Placer
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace
from tests.simulator.prompts import toy_profile


def context_of(
    capacity_bytes: int | None = None,
    *,
    kv_bytes: int = 1,
    state_bytes: int = 10,
    page_tokens: int = 1,
    cut: str = TAIL,
) -> CacheContext:
    """Return a context in which n tokens take n seconds."""
    sizes = Sizes(kv_bytes, state_bytes, page_tokens)
    return CacheContext(sizes, Grid(), CostModel(toy_profile()), capacity_bytes, cut)


def cache_of(
    trace: Trace,
    placer: Placer,
    eviction: EvictionPolicy | None = None,
    admission: AdmissionPolicy | None = None,
    *,
    count_running: bool = False,
    cap: CapRule | None = None,
    **sizes: Any,
) -> PolicyCache:
    """Return a cache of one pool: LRU, and whatever comes is admitted, unless it says otherwise."""
    context = context_of(**sizes)
    layout = unified(context, eviction or Lru())
    admission = admission or Always()
    return PolicyCache(
        trace, context, placer, admission, layout, count_running=count_running, cap=cap
    )


def begin(cache: PolicyCache, request: int, now_seconds: float = 0.0) -> Running:
    """Admit a request for which there is room, and plan it as a whole."""
    running = cache.admit(request, now_seconds)
    assert running is not None
    cache.plan(running, running.end)
    return running


def finish(cache: PolicyCache, running: Running, now_seconds: float = 0.0) -> None:
    """Store all of a request, let go of it and recount the cache."""
    cache.commit(running, running.end, now_seconds)
    cache.release(running)
    cache.check()


def serve(cache: PolicyCache, request: int) -> Running:
    """Serve a request from its first token to its last."""
    running = begin(cache, request)
    finish(cache, running)
    return running

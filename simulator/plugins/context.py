"""What a policy is told before the first request."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.costs.cost_model import CostModel
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

# What a KV span gives up when it is evicted. The tail: as much of its end as is short, in whole
# pages, as block caches do. A block: the same, but a prompt that is too large for the cache ends
# one page earlier, since room is made for each page, and at last its own last one goes. The span:
# all of it, as radix trees do.
TAIL, BLOCK, SPAN = CUTS = ("tail", "block", "span")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What an entry weighs: bytes per token of KV and per state, and tokens a page of KV."""

    kv_bytes_per_token: int
    state_bytes: int
    page_tokens: int = 1


@dataclass(frozen=True, slots=True)
class CacheContext:
    """The cache and the costs that a policy lives with.

    Parameters
    ----------
    sizes
        Bytes per token and per state.
    grid
        Where checkpoints may lie.
    costs
        Seconds of prefill, restore and capture.
    capacity_bytes
        The budget for KV and states, or that of the one pool which an eviction policy orders;
        None is unbounded.
    cut
        What a KV span gives up when it is evicted, one of `CUTS`.
    orders_kv, orders_states
        What the pool holds that an eviction policy orders: it is told of nothing else, and names
        nothing else as victim.
    trace
        All requests, those to come included: shown to clairvoyant policies only.
    """

    sizes: Sizes
    grid: Grid
    costs: CostModel
    capacity_bytes: int | None
    cut: str = TAIL
    orders_kv: bool = True
    orders_states: bool = True
    trace: Trace | None = None

"""What a policy is told before the first request."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.costs.cost_model import CostModel
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace


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
        One budget for KV and states; None is unbounded.
    whole_spans
        Whether a KV span that is evicted leaves whole, as in a radix tree, rather than by as much
        of its tail as is short.
    takes_own
        Whether a prompt that finds no room for all of its KV loses the last page of what it has
        brought, as where room is made block by block and nothing else is left to evict.
    trace
        All requests, those to come included: shown to clairvoyant policies only.
    """

    sizes: Sizes
    grid: Grid
    costs: CostModel
    capacity_bytes: int | None
    whole_spans: bool = False
    takes_own: bool = False
    trace: Trace | None = None

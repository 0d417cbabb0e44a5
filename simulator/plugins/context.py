"""The sizes, costs and capacity that a policy receives before the first request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simulator.costs.cost_model import CostModel
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

if TYPE_CHECKING:
    from simulator.plugins.protocols import Placer
    from simulator.results.result import Result

# How much of a KV span (the KV of consecutive tokens) is evicted at once. "tail": as many pages at
# its end as are needed, as in block caches. "block": the same, but a prompt larger than the cache
# ends one page earlier, since a block cache makes room page by page and in the end evicts the
# prompt's own last page. "span": the whole span, as in radix trees.
TAIL, BLOCK, SPAN = CUTS = ("tail", "block", "span")


def _nothing() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Memory sizes: bytes per token of KV, bytes per state, and tokens per page of KV."""

    kv_bytes_per_token: int
    state_bytes: int
    page_tokens: int = 1


@dataclass(frozen=True, slots=True)
class CacheContext:
    """The cache and cost model that a policy works with.

    Parameters
    ----------
    sizes
        Bytes per token of KV and per state.
    grid
        Positions where checkpoints (stored states) are allowed.
    costs
        The cost model, in seconds.
    capacity_bytes
        Memory for KV and states in bytes; for an eviction policy, that of its pool. None for
        unbounded.
    cut
        How much of a KV span is evicted at once: one of `CUTS`.
    free_bytes
        For an eviction policy: returns the free memory of its pool, in bytes.
    orders_kv, orders_states
        Whether the pool of an eviction policy holds KV, and whether it holds states. The policy is
        informed of such entries only and may name only those as victims.
    trace
        The whole trace, including future requests, for clairvoyant policies; None for others.
    placer
        The placement policy of the cache, for clairvoyant eviction policies; None for others.
    rehearse
        For a clairvoyant placement policy: replays the whole trace with another one in its place.
        None for other policies, and where no trace is replayed.
    common
        What the policies of one cache share, by class: the first of them puts it there.
    """

    sizes: Sizes
    grid: Grid
    costs: CostModel
    capacity_bytes: int | None
    cut: str = TAIL
    free_bytes: Callable[[], int] = _nothing
    orders_kv: bool = True
    orders_states: bool = True
    trace: Trace | None = None
    placer: Placer | None = None
    rehearse: Callable[[Placer], Result] | None = None
    common: dict[type, object] = field(default_factory=dict, compare=False)

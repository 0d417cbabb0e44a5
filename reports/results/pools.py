"""Figures of each pool of a split cache: contents, evictions and the losses they cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policies.pools import POOLS
from reports.words import capacity_words
from simulator.base.units import format_bytes

if TYPE_CHECKING:
    from simulator.results.result import PoolCounters

KV, STATES = POOLS
LOSS_POOLS = {"kv_evicted": KV, "state_evicted": STATES}  # from which a loss comes
EVICTED = {KV: "evicted_bytes", STATES: "evicted"}
COLUMNS = tuple(
    f"pool_{pool}_{name}"
    for pool in POOLS
    for name in ("capacity_bytes", "peak_bytes", EVICTED[pool])
)
LOSS_WORDS = {
    "never_seen": "no earlier prompt began like this",
    "last_token": "the last token is always recomputed",
    "in_flight": "a matching prefill had not ended yet",
    "not_admitted": "KV was not admitted to the cache",
    "kv_evicted": "KV had been evicted",
    "not_checkpointed": "no checkpoint was ever stored there",
    "alignment": "a wanted checkpoint was floored to block and chunk",
    "state_evicted": "the checkpoint had been evicted",
    "not_served": "the request was rejected or unfinished",
}

Figures = dict[str, dict[str, Any]]


def pools_of(counters: Iterable[PoolCounters], lost: Mapping[str, int]) -> Figures | None:
    """Return the figures of each pool by its name, over all replicas; None where there is one.

    Parameters
    ----------
    counters
        The pool counters of a result, over the whole run.
    lost
        The tokens lost to each cause, over the requests after the warm-up.
    """
    groups: dict[str, list[PoolCounters]] = {}
    for each in counters:
        groups.setdefault(each.pool, []).append(each)
    if set(groups) != {KV, STATES}:
        return None
    figures: Figures = {}
    for loss, pool in LOSS_POOLS.items():
        counted = "kv_evicted_bytes" if pool == KV else "checkpoints_evicted"
        kept = [each.capacity_bytes for each in groups[pool]]
        figures[pool] = {
            "capacity_bytes": None if None in kept else sum(size or 0 for size in kept),
            "peak_bytes": sum(each.peak_bytes for each in groups[pool]),
            EVICTED[pool]: sum(getattr(each, counted) for each in groups[pool]),
            "lost_tokens": lost[loss],
        }
    return figures


def flat_pools(figures: Figures | None) -> dict[str, int | None]:
    """Return the columns of a cell; None where there is one pool."""
    if figures is None:
        return dict.fromkeys(COLUMNS)
    names = {
        f"pool_{pool}_{name}": value for pool in POOLS for name, value in figures[pool].items()
    }
    return {name: names[name] for name in COLUMNS}


def pool_words(pool: str, value: Callable[[str], float | None]) -> tuple[str, str] | None:
    """Return peak and capacity of a pool, and what it evicted; None where pools are not split.

    `value` returns a figure of the pool by its name, such as "peak_bytes".
    """
    peak, kept, evicted = (value(name) for name in ("peak_bytes", "capacity_bytes", EVICTED[pool]))
    if peak is None or evicted is None:
        return None
    left = format_bytes(evicted) if pool == KV else f"{evicted:,.0f} states"
    return f"peak {format_bytes(peak)} of {capacity_words(kept)}", f"{left} evicted"


def loss_words(loss: str, *, split: bool) -> str:
    """Return why tokens were not saved, and from which pool that comes where pools are split."""
    pool = LOSS_POOLS.get(loss) if split else None
    return f"{LOSS_WORDS.get(loss, loss)}{f' (pool {pool})' if pool else ''}"

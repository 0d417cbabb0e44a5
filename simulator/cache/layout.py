"""Layouts: the pools of a cache, and what a KV span gives up when it is evicted.

A layout is named by a string: `unified`, one budget for KV and states, or `split:states=64` and
`split:states=8GiB`, slots for so many states, or so many bytes of them, apart from KV.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simulator.base.errors import UsageError, printable
from simulator.base.units import parse_bytes
from simulator.cache.pool import Pool
from simulator.plugins.context import SPAN, CacheContext, Sizes
from simulator.plugins.departures import Rest
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import EvictionPolicy, Expiring

UNIFIED = "unified"
KV, STATES = "kv", "states"
_SPLIT = re.compile(r"split:states=(?P<count>[0-9]{1,12})|split:states=(?P<size>.+)", re.ASCII)

Orders = Callable[[str], EvictionPolicy]


@dataclass(frozen=True, slots=True)
class Split:
    """How much of a cache is kept apart for states: slots by count, or bytes."""

    slots: int | None
    size_bytes: int | None

    def states_bytes(self, state_bytes: int) -> int:
        """Return the budget of the states."""
        return self.slots * state_bytes if self.slots is not None else self.size_bytes or 0


def parse_pools(text: str) -> Split | None:
    """Return how the pools are split, None where they are one.

    Raises
    ------
    UsageError
        Where it is neither `unified` nor `split:states=...`.
    """
    if text == UNIFIED:
        return None
    form = _SPLIT.fullmatch(text)
    if form is None:
        raise UsageError(
            f"unknown pools '{printable(text, 60)}'; expected unified, split:states=64 (slots) or "
            "split:states=8GiB"
        )
    if form["count"] is not None:
        return Split(int(form["count"]), None)
    return Split(None, parse_bytes(form["size"]))


def pool_names(text: str) -> tuple[str, ...]:
    """Return the names of the pools of a layout; errors as `parse_pools`."""
    return (UNIFIED,) if parse_pools(text) is None else (KV, STATES)


class PagedLayout:
    """KV in pages, states as wholes; in one pool or in two.

    Parameters
    ----------
    sizes
        Bytes per token and per state, and tokens a page.
    cut
        What a KV span gives up, one of `simulator.plugins.context.CUTS`.
    kv, states
        The pools of both; the same for one budget.
    """

    def __init__(self, sizes: Sizes, cut: str, kv: Pool, states: Pool) -> None:
        self.kv, self.states = kv, states
        self.pools: Mapping[str, Pool] = {pool.name: pool for pool in (kv, states)}
        self.kv_bytes_per_token = sizes.kv_bytes_per_token
        self.state_bytes = sizes.state_bytes
        self._page_tokens = sizes.page_tokens
        self._whole = cut == SPAN
        self._shared = kv is states
        self._spares_states = kv is states and kv.order.spares_states

    def end_of_rest(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return where the KV of a victim is to end: `short_bytes` are free then, or all goes."""
        end = span.start
        if not self._whole and (span.checkpoints or short_bytes < span.size_bytes):
            end = self._trimmed_end(span, short_bytes)
            if self._spares_states and span.checkpoints:
                end = max(end, self._end_behind(span, span.checkpoints[-1].position))
        return end

    def fitting_end(self, span: KvSpan) -> int:
        """Return how deep the KV of a span may grow into the free bytes, in whole pages."""
        end = span.kv_end + self.kv.free_bytes // self.kv_bytes_per_token
        return end - end % self._page_tokens

    def page_start(self, span: KvSpan) -> int:
        """Return where the last resident page of a span starts."""
        end = span.kv_end - 1
        return end - end % self._page_tokens

    def _end_behind(self, span: KvSpan | Rest, position: int) -> int:
        """Return the first page boundary from `position` on, or 0 where no KV lies behind it."""
        end = position + -position % self._page_tokens
        return end if end < span.kv_end else 0

    def _trimmed_end(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return the deepest page boundary to which `span` must shrink to free `short_bytes`.

        States beyond the new end go too, since a state needs the KV of every token before it;
        what they free counts where they live in the same pool.
        """
        kv_bytes = self.kv_bytes_per_token
        end = span.kv_end - -(-short_bytes // kv_bytes)
        for checkpoint in reversed(span.checkpoints) if self._shared else ():
            if end >= checkpoint.position:
                break
            short_bytes -= checkpoint.size_bytes
            end = min(span.kv_end - -(-short_bytes // kv_bytes), checkpoint.position - 1)
        end -= end % self._page_tokens
        return end if end > span.start else span.start


def layout_of(
    pools: str,
    sizes: Sizes,
    cut: str,
    capacity_bytes: int | None,
    order_of: Orders,
    *,
    timed: bool = True,
) -> PagedLayout:
    """Return the layout that a string names.

    Parameters
    ----------
    pools
        "unified", or "split:states=" with a number of slots or a size.
    sizes, cut
        As `PagedLayout` takes them.
    capacity_bytes
        The budget of all pools; None is unbounded, but for the states of a split.
    order_of
        Makes the eviction policy of a pool, by its name.
    timed
        Whether time passes: otherwise nothing expires.

    Raises
    ------
    UsageError
        If the pools are none, or the states take more than there is.
    """
    split = parse_pools(pools)
    if split is None:
        pool = _pool(UNIFIED, capacity_bytes, order_of, timed)
        return PagedLayout(sizes, cut, pool, pool)
    states_bytes = split.states_bytes(sizes.state_bytes)
    rest = None if capacity_bytes is None else capacity_bytes - states_bytes
    if rest is not None and rest < 0:
        raise UsageError(
            f"pools '{printable(pools, 60)}': the states take {states_bytes:,} bytes, more than "
            f"the capacity of {capacity_bytes:,}"
        )
    kv = _pool(KV, rest, order_of, timed)
    return PagedLayout(sizes, cut, kv, _pool(STATES, states_bytes, order_of, timed))


def unified(context: CacheContext, order: EvictionPolicy) -> PagedLayout:
    """Return the layout of one pool for KV and states."""
    pool = Pool(UNIFIED, context.capacity_bytes, order, expires=isinstance(order, Expiring))
    return PagedLayout(context.sizes, context.cut, pool, pool)


def _pool(name: str, capacity_bytes: int | None, order_of: Orders, timed: bool) -> Pool:
    order = order_of(name)
    return Pool(name, capacity_bytes, order, expires=timed and isinstance(order, Expiring))

"""Layouts: one memory pool for KV and states or two, and partial eviction of KV spans.

A layout is named by a string. `unified` is one budget for KV and states. `split:states=64` and
`split:states=8GiB` reserve a fixed number of slots, or bytes, for states, apart from KV.
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
    """The memory reserved for states: a number of slots, or a number of bytes."""

    slots: int | None
    size_bytes: int | None

    def states_bytes(self, state_bytes: int) -> int:
        """Return the memory reserved for states in bytes, given the size of one state."""
        return self.slots * state_bytes if self.slots is not None else self.size_bytes or 0


def parse_pools(text: str) -> Split | None:
    """Parse the name of a layout; return None for one pool.

    Raises
    ------
    UsageError
        If it is neither `unified` nor `split:states=...`.
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
    """Return the names of the memory pools of a layout.

    Raises
    ------
    UsageError
        If the layout's name is invalid.
    """
    return (UNIFIED,) if parse_pools(text) is None else (KV, STATES)


class PagedLayout:
    """A layout with KV in pages and states stored whole, in one memory pool or two.

    Parameters
    ----------
    sizes
        Bytes per token of KV and per state, and tokens per page.
    cut
        How much of a KV span is evicted at once: one of `simulator.plugins.context.CUTS`.
    kv, states
        The pools of KV and of states; the same object for a unified budget.
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
        """Return the position to which a victim's KV shrinks so that `short_bytes` become free.

        That is the span's start if all of it must go. With a policy that spares states, KV up to
        the deepest checkpoint is kept for now.
        """
        end = span.start
        if not self._whole and (span.checkpoints or short_bytes < span.size_bytes):
            end = self._trimmed_end(span, short_bytes)
            if self._spares_states and span.checkpoints:
                end = max(end, self._end_behind(span, span.checkpoints[-1].position))
        return end

    def fitting_end(self, span: KvSpan) -> int:
        """Return the deepest page boundary to which a KV span can grow in the free memory."""
        end = span.kv_end + self.kv.free_bytes // self.kv_bytes_per_token
        return end - end % self._page_tokens

    def page_start(self, span: KvSpan) -> int:
        """Return the position at which the last resident page of a KV span starts, in tokens."""
        end = span.kv_end - 1
        return end - end % self._page_tokens

    def _end_behind(self, span: KvSpan | Rest, position: int) -> int:
        """Return a KV span's first page boundary from `position` on; 0 if no KV lies after it."""
        end = position + -position % self._page_tokens
        return end if end < span.kv_end else 0

    def _trimmed_end(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return the page boundary to which a KV span must shrink to free `short_bytes`.

        States after the new end are evicted too, since a state is usable only with the KV of all
        tokens before it. Their bytes count if they are in the same pool.
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
    """Build the layout that a string names.

    Parameters
    ----------
    pools
        "unified", or "split:states=" followed by a number of slots or a size.
    sizes, cut
        See `PagedLayout`.
    capacity_bytes
        Total budget of all pools in bytes; None for unbounded KV (a split still bounds the states).
    order_of
        Creates the eviction policy for a pool name.
    timed
        Whether requests have arrival times; without them nothing expires.

    Raises
    ------
    UsageError
        If `pools` is invalid, or the states need more than `capacity_bytes`.
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
    """Build the layout with one memory pool for KV and states."""
    pool = Pool(UNIFIED, context.capacity_bytes, order, expires=isinstance(order, Expiring))
    return PagedLayout(context.sizes, context.cut, pool, pool)


def _pool(name: str, capacity_bytes: int | None, order_of: Orders, timed: bool) -> Pool:
    """Create a memory pool with its eviction policy."""
    order = order_of(name)
    return Pool(name, capacity_bytes, order, expires=timed and isinstance(order, Expiring))

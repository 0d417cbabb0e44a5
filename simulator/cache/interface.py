"""Interfaces of the cache: `Cache` as used by schedulers, `Layout` as used by the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from simulator.cache.pool import Pool
from simulator.cache.request import Running
from simulator.plugins.departures import Rest
from simulator.plugins.entries import KvSpan

Usage = tuple[int, int, int]  # number of stored states, bytes of states, bytes of KV


class Cache(Protocol):
    """Interface of the prefix cache of one replica.

    For each request `admit` is called before its first chunk, `plan` before and `commit` after each
    chunk, and `release` once at the end, also if the request was aborted.
    """

    pools: Mapping[str, Pool]

    def admit(self, request: int, now_seconds: float) -> Running | None:
        """Match a prompt against the cache and pin the entries it reuses.

        A pinned entry cannot be evicted. If there is no memory for the request yet, nothing is
        changed and the scheduler calls `admit` again later.

        Parameters
        ----------
        request
            Index of the request in the trace.
        now_seconds
            Simulated time.

        Returns
        -------
        Running or None
            The running request; None if there is no memory for it yet.
        """
        ...

    def plan(self, running: Running, upto: int) -> None:
        """Choose where states are stored in the next chunk, which ends at token `upto`."""
        ...

    def commit(self, running: Running, upto: int, now_seconds: float) -> None:
        """Store a request's KV and states up to token `upto`, for reuse by other requests."""
        ...

    def release(self, running: Running) -> None:
        """Unpin the entries that a request used and free the memory it held."""
        ...

    def usage(self) -> Usage:
        """Return the number of stored states, their bytes, and the bytes of KV."""
        ...

    def check(self) -> None:
        """Recount the cache from scratch to detect bugs.

        Raises
        ------
        IntegrityError
            If a stored count or link differs from the recount.
        """
        ...


class Layout(Protocol):
    """The pools of a cache, entry sizes, and how much of a KV span an eviction frees.

    A KV span is the KV of a run of consecutive tokens. `kv` and `states` are the pools (memory
    budgets) of KV and of recurrent states, and may be the same; `pools` maps names to pools.
    """

    pools: Mapping[str, Pool]
    kv: Pool
    states: Pool
    kv_bytes_per_token: int
    state_bytes: int

    def end_of_rest(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return the new end of a victim's KV after an eviction.

        Parameters
        ----------
        span
            The victim.
        short_bytes
            Bytes that must become free.

        Returns
        -------
        int
            Position in tokens; the span's start if all of its KV must be evicted.
        """
        ...

    def fitting_end(self, span: KvSpan) -> int:
        """Return the deepest position to which a KV span can grow in the free memory, in tokens."""
        ...

    def page_start(self, span: KvSpan) -> int:
        """Return the position at which the last resident page of a KV span starts, in tokens."""
        ...

"""What a cache promises to the schedulers of a replica, and a layout to the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from simulator.cache.pool import Pool
from simulator.cache.request import Running
from simulator.plugins.departures import Rest
from simulator.plugins.entries import KvSpan

Usage = tuple[int, int, int]  # what is stored: states, their bytes, and the bytes of KV


class Cache(Protocol):
    """A cache of one replica.

    A request is admitted before its first chunk, planned before each of its chunks, committed
    after each, and released in the end, whatever has become of it.
    """

    pools: Mapping[str, Pool]

    def admit(self, request: int, now_seconds: float) -> Running | None:
        """Match a prompt and pin what it uses; None where it must wait for room.

        Nothing is left behind by a request that must wait: it is matched anew the next time.
        """
        ...

    def plan(self, running: Running, upto: int) -> None:
        """Decide where states are captured in the chunk that ends with token `upto`."""
        ...

    def commit(self, running: Running, upto: int, now_seconds: float) -> None:
        """Store what has been computed up to token `upto`: it is visible from now on."""
        ...

    def release(self, running: Running) -> None:
        """Unpin what a request has used, and give back what it holds."""
        ...

    def usage(self) -> Usage:
        """Return what is stored now: states, their bytes, and the bytes of KV."""
        ...

    def check(self) -> None:
        """Recount everything from scratch.

        Raises
        ------
        IntegrityError
            If anything is not what it should be.
        """
        ...


class Layout(Protocol):
    """Which pool an entry lives in, what it weighs, and what a cut gives up.

    `kv` and `states` may be the same pool; `pools` has them by name.
    """

    pools: Mapping[str, Pool]
    kv: Pool
    states: Pool
    kv_bytes_per_token: int
    state_bytes: int

    def end_of_rest(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return where the KV of a victim is to end: `short_bytes` are free then, or all goes."""
        ...

    def fitting_end(self, span: KvSpan) -> int:
        """Return how deep the KV of a span may grow into the free bytes."""
        ...

    def page_start(self, span: KvSpan) -> int:
        """Return where the last resident page of a span starts."""
        ...

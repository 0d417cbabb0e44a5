"""The plug-ins' contracts.

A policy sees only what the past has shown; one that looks ahead sets `clairvoyant = True`, and
reports mark it so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simulator.plugins.context import CacheContext
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.prefix import Overlap, Prefix, Window

__all__ = [
    "AdmissionPolicy",
    "EvictionPolicy",
    "Expiring",
    "Law",
    "Overlap",
    "OverlapEstimator",
    "Placer",
    "Prefix",
    "Window",
]


class Placer(Protocol):
    """Decides where the states of a prompt are checkpointed.

    `place` is pure: the same arguments and the same observations before it give the same answer.
    A placer with `implicit = True` holds a state at every position at no cost (an upper bound);
    its `place` is not called. One with `observes = False` has no use for overlaps, and `observe`
    is not called.
    """

    clairvoyant: ClassVar[bool]
    implicit: ClassVar[bool]
    observes: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Get to know the cache, before the first request."""
        ...

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return wanted positions: ascending, unique, within `(prefix.resume, prefix.end_tokens]`.

        Those within `window` count, so a placer may plan the whole prompt each time it is asked.
        Where chunks end may depend on the load; a prompt that runs at once is one window.
        """
        ...

    def observe(self, overlap: Overlap) -> None:
        """Learn from a request that has been served."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A law of overlap depths on its support.

    Parameters
    ----------
    depths
        int64, ascending, unique, at least 1.
    weights
        float64, non-negative, of one length with `depths`; any scale.
    misses
        Weight of depth 0, on the same scale.
    version
        Changes when the law does, and only then.
    """

    depths: NDArray[np.int64]
    weights: NDArray[np.float64]
    misses: float = 0.0
    version: int = 0


class OverlapEstimator(Protocol):
    """Learns the law of overlap depths."""

    scope: ClassVar[str]  # whose overlaps it pools: "global", "label" or "document"
    coordinate: ClassVar[str]  # where depths are counted from: "start", "end" or "branch"

    def observe(self, overlap: Overlap) -> None:
        """Take one more observation."""
        ...

    def law(self) -> Law:
        """Return the current law; empty before the first observation."""
        ...


class EvictionPolicy(Protocol):
    """Keeps an order over the entries of the cache; never touches bytes.

    The cache calls the `on_` methods; `victim` returns the entry that should go next among those
    that are `evictable`, or None, and leaves the order as it was. One with `observes = True` is
    told of each request before any of its entries enters or is used.

    A request that uses a path uses all of its spans. One with `hits_paths = True` is told of each
    of them, from the deepest upwards; otherwise of the deepest that was resident before, alone.

    One that is not clairvoyant is never shown where prompts still to come will diverge: spans are
    split when that is seen (`on_split`). Of a span that it names as victim, one with
    `spares_states = True` means only what lies behind the last state, if anything does.
    """

    clairvoyant: ClassVar[bool]
    observes: ClassVar[bool]
    spares_states: ClassVar[bool]
    hits_paths: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Get to know the cache, before the first request."""
        ...

    def observe(self, overlap: Overlap) -> None:
        """Learn who comes next: all calls until the next one are on behalf of this request."""
        ...

    def on_insert(self, entry: Entry) -> None:
        """`entry` has entered the cache (it may not be evictable yet)."""
        ...

    def on_hit(self, entry: Entry) -> None:
        """`entry` has served a request, or has been written again."""
        ...

    def on_evictable(self, entry: Entry) -> None:
        """Nothing needs `entry` any more: it may be evicted from now on."""
        ...

    def on_evict(self, entry: Entry) -> None:
        """`entry` has left the cache altogether."""
        ...

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """`lower` has been split: a request parts from it where `upper`, which is new, ends.

        Either part may be without bytes. Where only `upper` has any, `lower` has not been evicted:
        `upper` stands in its place. That request passes `upper`, and hits it when it has been
        served.
        """
        ...

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """`lower` has been split: its states up to where `upper` ends lie in that now.

        Called instead of `on_split` where the policy orders states alone, and KV has its own.
        """
        ...

    def victim(self) -> Entry | None:
        """Return the evictable entry that should go next, or None where there is none."""
        ...

    def victims(self) -> Iterator[Entry]:
        """Yield the entries that would go, one after another, if room were made now.

        The first is the one that `victim` would return. Each later one is named as if those
        before it had gone whole, a span with its states; so a span is named once what lies below
        it has been. With `spares_states`, what lies behind the last state of a span may be named
        first, and the same span again for the rest. Nothing changes, neither an order nor a mark
        nor an entry; what is yielded holds until the cache changes.
        """
        ...


@runtime_checkable
class Expiring(Protocol):
    """What an eviction policy has besides, if its entries have a life.

    It is asked before each match, and told of its entries where the cache has no limit as well.
    """

    def expired(self, now_seconds: float) -> Entry | None:
        """Return an evictable entry whose life is over, or None where there is none.

        The entry leaves, and the next is asked for. A span comes after what lies below it.
        """
        ...


class AdmissionPolicy(Protocol):
    """Decides what is worth its bytes. One with `always = True` is not asked.

    One with `observes = True` is told of each request before it is asked about its entries.
    """

    clairvoyant: ClassVar[bool]
    always: ClassVar[bool]
    observes: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Get to know the cache, before the first request."""
        ...

    def observe(self, overlap: Overlap) -> None:
        """Learn who comes next: all calls until the next one are on behalf of this request."""
        ...

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """`lower` has been split: what is known of it holds for `upper`, which is new, as well."""
        ...

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether `size_bytes` more of `candidate` enter the cache.

        `departures` are what would have to leave, false when there is room. They are worked out
        as far as they are looked at. No entry may be changed.
        """
        ...

"""Protocols of the policies: placement, estimation, eviction, admission.

A policy sees only past requests. One that uses future requests must set `clairvoyant = True`;
reports then mark it.
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
    "Retaining",
    "Window",
]


class Placer(Protocol):
    """A placement policy: decides at which positions of a prompt states are stored.

    `place` must be deterministic given its arguments and earlier observations. With `implicit =
    True` a state is available at every allowed position at no cost (an upper bound), and `place` is
    not called. With `observes = False`, `observe` is not called.
    """

    clairvoyant: ClassVar[bool]
    implicit: ClassVar[bool]
    observes: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Receive sizes, costs and capacity before the first request."""
        ...

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the positions where states should be stored.

        Parameters
        ----------
        prefix
            The prompt.
        window
            The chunk computed next. Only positions in it count now, so a policy may return a plan
            for the whole prompt each time. Chunks may depend on load; without chunking there is
            one.

        Returns
        -------
        sequence of int
            Ascending, unique positions within `(prefix.resume, prefix.end_tokens]`.
        """
        ...

    def observe(self, overlap: Overlap) -> None:
        """Learn from a request that has been served."""
        ...


@runtime_checkable
class Retaining(Protocol):
    """The interface of placers that choose what stays under a cap, in addition to `Placer`.

    A cap bounds the states that are resident for a prefix (`simulator.cache.state_cap`). For a
    placer without `retain`, the cache keeps those just wanted, then those that leave even gaps.
    """

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Return the positions that stay: at most `most` of `states` and `wanted`.

        It must be deterministic, as `place`, and is called only where there are more than `most`.

        Parameters
        ----------
        prefix
            A prompt on whose path they lie; it may end before the deepest of them.
        states
            Ascending positions of resident states that may be given up, in tokens.
        wanted
            Ascending positions that the request would store, or has just stored.
        most
            The number of states that may stay, 0 or more.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A discrete distribution of overlap depths (prefix lengths shared with earlier prompts).

    Parameters
    ----------
    depths
        int64, shape (n,), in tokens: ascending, unique, at least 1.
    weights
        float64, shape (n,), non-negative, not necessarily normalised.
    misses
        Weight of depth 0, on the same scale.
    version
        Changes exactly when the distribution does.
    """

    depths: NDArray[np.int64]
    weights: NDArray[np.float64]
    misses: float = 0.0
    version: int = 0


class OverlapEstimator(Protocol):
    """Estimates the distribution of overlap depths (prefix lengths shared with earlier prompts)."""

    scope: ClassVar[str]  # requests estimated together: "global", "label" or "document"
    coordinate: ClassVar[str]  # origin of depths: "start", "end" or "branch"

    def observe(self, overlap: Overlap) -> None:
        """Learn the overlap of one request."""
        ...

    def law(self) -> Law:
        """Return the estimated distribution; empty before the first observation."""
        ...


class EvictionPolicy(Protocol):
    """An eviction policy: keeps the order in which entries of a memory pool are evicted.

    An entry is a stored state (`Checkpoint`) or the KV of consecutive tokens (`KvSpan`). The cache
    calls the `on_` methods and evicts what `victim` returns; the policy itself evicts nothing.
    Class attributes adjust the calls:

    `observes`
        `observe` is called with each request, before its entries are stored or used.
    `hits_paths`
        `on_hit` is called for every resident span of a request's path, from the deepest upwards;
        otherwise only for the deepest.
    `spares_states`
        Evicting a span first removes only the KV after its last state, if there is any.
    `clairvoyant`
        The policy knows future requests. Others learn where prompts diverge only when spans are
        split (`on_split`).
    """

    clairvoyant: ClassVar[bool]
    observes: ClassVar[bool]
    spares_states: ClassVar[bool]
    hits_paths: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Receive sizes, costs and capacity before the first request."""
        ...

    def observe(self, overlap: Overlap) -> None:
        """Receive the request on whose behalf all calls until the next `observe` are made."""
        ...

    def on_insert(self, entry: Entry) -> None:
        """Handle an entry that was just stored; it may not be evictable yet."""
        ...

    def on_hit(self, entry: Entry) -> None:
        """Handle the reuse of an entry by a request, or its being stored again."""
        ...

    def on_evictable(self, entry: Entry) -> None:
        """Handle an entry that has become evictable, since nothing needs it any more."""
        ...

    def on_evict(self, entry: Entry) -> None:
        """Handle an entry that has left the cache completely."""
        ...

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Handle the split of a KV span: the new span `upper` took over the first part of `lower`.

        A request diverges or ends where `upper` ends; once served, it causes `on_hit(upper)`.
        Either part may have no resident KV. If only `upper` has, then `lower` was not evicted:
        `upper` replaces it.
        """
        ...

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Handle the split of a KV span whose states, up to the end of `upper`, are now in `upper`.

        It is called instead of `on_split` if the policy's pool holds states only.
        """
        ...

    def victim(self) -> Entry | None:
        """Return the evictable entry to evict next, or None; the order is unchanged."""
        ...

    def victims(self) -> Iterator[Entry]:
        """Yield the entries in the order in which they would be evicted now.

        The first is what `victim` would return. Each further entry assumes that those before it
        were evicted completely, a span with its states; so a span comes after all spans below it.
        With `spares_states`, a span may come twice: for the KV after its last state, and for the
        rest.

        The call must not change the order or any entry. The result is valid until the cache
        changes.
        """
        ...


@runtime_checkable
class Expiring(Protocol):
    """The interface of eviction policies whose entries expire, in addition to `EvictionPolicy`.

    `expired` is called before each match. Such a policy is informed of its entries in unbounded
    pools too.
    """

    def expired(self, now_seconds: float) -> Entry | None:
        """Return an evictable entry that has expired, or None.

        The cache removes the entry and calls again. A span must come after all spans below it.
        """
        ...


class AdmissionPolicy(Protocol):
    """An admission policy: decides which states and which KV are worth storing.

    With `always = True`, everything is admitted and `admit` is not called. With `observes = True`,
    `observe` is called with each request before `admit` is called for its entries.
    """

    clairvoyant: ClassVar[bool]
    always: ClassVar[bool]
    observes: ClassVar[bool]

    def begin(self, context: CacheContext) -> None:
        """Receive sizes, costs and capacity before the first request."""
        ...

    def observe(self, overlap: Overlap) -> None:
        """Receive the request on whose behalf all calls until the next `observe` are made."""
        ...

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Handle the split of a KV span: what is known of `lower` also holds for `upper`."""
        ...

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Decide whether an entry is stored. No entry may be modified.

        Parameters
        ----------
        candidate
            The state, or the span whose KV would grow.
        size_bytes
            Bytes that would be added.
        departures
            The evictions this would need, computed lazily; falsy if there is room.
        """
        ...

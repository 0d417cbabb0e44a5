"""Defaults for eviction policies."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import ClassVar

from policies.parameters import require
from simulator.base.errors import UsageError
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class BaseEviction:
    """Base class of eviction policies: every hook, most of them doing nothing.

    The prefix cache calls what `simulator.plugins.protocols.EvictionPolicy` names. Flat object mode
    (`policies.objects`) calls `start` and `on_miss` as well.

    `foresees_all` is for the contract tests: false where an eviction changes the ranks of others,
    so that of the entries that `victims` yields only the first is sure to be the one evicted.
    """

    clairvoyant: ClassVar[bool] = False
    observes: ClassVar[bool] = False
    spares_states: ClassVar[bool] = False
    hits_paths: ClassVar[bool] = True
    foresees_all: ClassVar[bool] = True

    def begin(self, context: CacheContext) -> None:
        """Read the context, before the first request; by default its capacity alone."""
        self.start(context.capacity_bytes)

    def observe(self, overlap: Overlap) -> None:
        """Note which request comes next; by default nothing."""

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Set the capacity in bytes (a part of a cache may have a fraction); None: no limit."""

    def on_miss(self, entry: Entry) -> None:
        """Note a miss before room is made; called in flat object mode only."""

    def on_insert(self, entry: Entry) -> None:
        """Add a new entry."""

    def on_hit(self, entry: Entry) -> None:
        """Note a hit; by default nothing."""

    def on_evictable(self, entry: Entry) -> None:
        """Make an entry a candidate again that was in use and is evictable now."""

    def on_evict(self, entry: Entry) -> None:
        """Forget an entry that has left."""

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Insert the upper part of a span, and evict the lower if all of its KV is in the upper.

        So the upper part counts as new. A policy that ranks by more than the last use overrides
        this and copies the rank of the lower part.
        """
        if upper.size_bytes:
            self.on_insert(upper)
            if not lower.size_bytes:
                self.on_evict(lower)

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Note that states have moved to another span; by default nothing."""

    def victim(self) -> Entry | None:
        """Return the evictable entry that should go next, or None where there is none."""
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; by default the first alone.

        This default needs a `victim` that changes nothing.

        Raises
        ------
        UsageError
            When it is asked for more, by an admission policy that looks further.
        """
        victim = self.victim()
        if victim is not None:
            yield victim
            raise UsageError(
                f"eviction {type(self).__name__} does not tell what goes after the next victim "
                "(`victims`), which this admission policy asks"
            )


def incoming_spans(overlap: Overlap) -> Iterator[KvSpan]:
    """Yield the spans of a prompt without resident KV, deepest first: those about to enter."""
    span = overlap.span
    while span is not None and span.kv_end == span.start:
        yield span
        span = span.parent


def require_share(parameter: str, share: float) -> None:
    """Raise ValueError unless `share` lies strictly between 0 and 1."""
    require(0 < share < 1, parameter, "a share between 0 and 1", share)


def share_of(capacity_bytes: Fraction | int | None, share: float | Fraction) -> float:
    """Return the whole bytes within a share of a capacity; infinity where it is unbounded.

    The share counts as the decimal that was written: 0.29 of 100 is 29, where the product of
    floats is less. Whole bytes exceed the exact limit just when they exceed this, so that nothing
    depends on the unit in which sizes are counted.
    """
    if capacity_bytes is None:
        return float("inf")
    return floor(exact(share) * capacity_bytes)


def exact(share: float | Fraction) -> Fraction:
    """Return a share as the decimal that was written."""
    return share if isinstance(share, Fraction) else Fraction(repr(share))

"""The common ground of eviction policies: what most of them need not do."""

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
    """An eviction policy that starts from its capacity alone.

    The prefix cache calls what `simulator.plugins.protocols.EvictionPolicy` names. Flat object mode
    (`policies.objects`) calls `start` and `on_miss` as well.

    Contract tests look at `foresees_all`: false where a departure changes the worth of others,
    so that of what `victims` yields only the first is sure to be what leaves.
    """

    clairvoyant: ClassVar[bool] = False
    observes: ClassVar[bool] = False
    spares_states: ClassVar[bool] = False
    hits_paths: ClassVar[bool] = True
    foresees_all: ClassVar[bool] = True

    def begin(self, context: CacheContext) -> None:
        """Learn the capacity, before the first request."""
        self.start(context.capacity_bytes)

    def observe(self, overlap: Overlap) -> None:
        """Learn which request comes next; by default it does not matter."""

    def start(self, capacity_bytes: Fraction | int | None) -> None:
        """Learn the capacity in bytes (of a part of a cache: perhaps not whole); None: no limit."""

    def on_miss(self, entry: Entry) -> None:
        """Take note of a missing object before room is made; called in flat object mode only."""

    def on_insert(self, entry: Entry) -> None:
        """Take in a new entry."""

    def on_hit(self, entry: Entry) -> None:
        """Take note of a hit; by default it changes nothing."""

    def on_evictable(self, entry: Entry) -> None:
        """Consider again an entry that could not be evicted for a while."""

    def on_evict(self, entry: Entry) -> None:
        """Forget an entry that has left."""

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Let the upper part of a span come in, and the lower go if its KV is all above.

        So the upper part counts as new. A policy that ranks by more than the last use gives it
        the standing of the lower.
        """
        if upper.size_bytes:
            self.on_insert(upper)
            if not lower.size_bytes:
                self.on_evict(lower)

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Take note that states lie in another span now; by default it does not matter."""

    def victim(self) -> Entry | None:
        """Return the evictable entry that should go next, or None where there is none."""
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield what would go; by default the next alone, for a `victim` that moves nothing.

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
    """Yield the spans of a prompt of which nothing is resident, deepest first: they come next."""
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

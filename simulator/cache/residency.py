"""What is resident: bytes in, bytes out, pins, and the evict loop."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.base.errors import UsageError, printable
from simulator.cache.pool import Pool
from simulator.plugins.context import CacheContext
from simulator.plugins.departures import (
    NO_DEPARTURES,
    Departure,
    Departures,
    Rest,
    departures_of,
    nothing,
)
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy


class Store:
    """Brings entries in and lets others go; the policies only say which.

    Parameters
    ----------
    context
        Bytes per token and per state, the capacity, and what an eviction takes.
    admission, eviction
        The policies.
    expires
        Entries may also leave where the cache has no limit.
    """

    def __init__(
        self,
        context: CacheContext,
        admission: AdmissionPolicy,
        eviction: EvictionPolicy,
        *,
        expires: bool = False,
    ) -> None:
        self.sizes = sizes = context.sizes
        self.pool = Pool(context.capacity_bytes)
        self.evicted_checkpoints = 0
        self._admission = admission
        self._asks = not admission.always
        self._eviction = eviction
        self._kv_bytes = sizes.kv_bytes_per_token
        self._page_tokens = sizes.page_tokens
        self._whole_spans = context.whole_spans
        self._spares_states = eviction.spares_states
        # Where nothing ever leaves, as in most unbounded stores, no order has to be kept; KV
        # without bytes (a purely recurrent model) frees nothing, so it is never offered.
        self._evicts = expires or context.capacity_bytes is not None
        self._evicts_kv = self._evicts and sizes.kv_bytes_per_token > 0

    # --- use --------------------------------------------------------------------------------

    def note_use(
        self, path: KvSpan, fresh: list[KvSpan], used: Checkpoint | None, written: list[Checkpoint]
    ) -> None:
        """Tell the policy what a request has used and brought in, once all of it is there.

        First the KV, from the deepest span upwards, so that no span is older than what lies below
        it; then the states, which so outlive the KV that the same request has used last.

        Parameters
        ----------
        path
            The deepest span of the path that was resident before.
        fresh
            The spans that have come in below it, from the top.
        used
            The state that the request resumed from.
        written
            The states that it has stored, ascending.
        """
        if not self._evicts:
            return
        on_insert, on_hit = self._eviction.on_insert, self._eviction.on_hit
        if self._evicts_kv:
            for span in reversed(fresh):
                on_insert(span)
            while path.stop:
                on_hit(path)
                path = path.parent
        if used is not None and used.position:
            on_hit(used)
        for checkpoint in written:
            on_insert(checkpoint)

    def note_split(self, upper: KvSpan, lower: KvSpan, *, unpinned: bool) -> None:
        """Tell the policies that a span has been split.

        `unpinned` says that the lower part has lost its last pin to the upper one.
        """
        if self._asks:
            self._admission.on_split(upper, lower)
        if self._evicts:
            self._eviction.on_split(upper, lower)
            if unpinned and lower.evictable and self._evicts_kv:
                self._eviction.on_evictable(lower)

    def unpin(self, span: KvSpan, checkpoint: Checkpoint | None) -> None:
        """Take back one pin of each."""
        span.pins -= 1
        if checkpoint is not None:
            checkpoint.pins -= 1
        if self._evicts:
            if not span.pins and not span.children_resident and self._evicts_kv:
                self._eviction.on_evictable(span)
            if checkpoint is not None and not checkpoint.pins:
                self._eviction.on_evictable(checkpoint)

    # --- in ---------------------------------------------------------------------------------
    # The policy learns of what comes in by `note_use`, once all of it is there.

    def make_room_for(self, tokens: int, states: int) -> bool:
        """Make room for all that a request brings in; say whether it then fits for certain.

        Where an admission policy is to be asked for every entry, nothing is certain.
        """
        if self._asks:
            return False
        size_bytes = tokens * self._kv_bytes + states * self.sizes.state_bytes
        return size_bytes <= self.pool.free_bytes or self._make_whole_room(size_bytes)

    def admits_rest(self, span: KvSpan) -> bool:
        """Ask whether the KV that `span` lacks may enter: once, however many pieces it comes in."""
        return (
            not self._asks
            or span.kv_end == span.stop
            or self._admits(span, (span.stop - span.kv_end) * self._kv_bytes)
        )

    def fill(self, top: KvSpan, below: list[KvSpan]) -> None:
        """Bring in the rest of `top` and all of the spans `below` it, for which there is room."""
        kv_bytes = self._kv_bytes
        tokens = self._grow(top, top.stop) if top.kv_end < top.stop else 0
        for span in below:  # nothing of these is resident
            stop, start = span.stop, span.start
            span.kv_end = span.kv_admitted_end = stop
            span.size_bytes = (stop - start) * kv_bytes
            span.parent.children_resident += 1
            tokens += stop - start
        if tokens:
            self.pool.take_kv(tokens * kv_bytes)

    def extend(self, span: KvSpan, end: int) -> bool:
        """Bring in the KV of `span` up to token `end`, or as far as it fits; say if all is there.

        `span` must be pinned and admitted, and what lies above it whole.
        """
        if end <= span.kv_end:
            return True
        size_bytes = (end - span.kv_end) * self._kv_bytes
        fits = size_bytes <= self.pool.free_bytes or self._make_room(size_bytes)
        if not fits:
            end = self._fitting_end(span)
        if end > span.kv_end:
            self.pool.take_kv(self._grow(span, end) * self._kv_bytes)
        return fits

    def add_checkpoint(self, span: KvSpan, position: int) -> Checkpoint | None:
        """Store a state at `position` of `span`, where KV is and no state; None if it cannot be."""
        size_bytes = self.sizes.state_bytes
        checkpoint = Checkpoint(span, position, size_bytes)
        if self._asks and not self._admits(checkpoint, size_bytes):
            return None
        if size_bytes > self.pool.free_bytes and not self._make_whole_room(size_bytes):
            return None
        span.add(checkpoint)
        self.pool.take_checkpoint(size_bytes)
        return checkpoint

    def _grow(self, span: KvSpan, end: int) -> int:
        """Make the KV of `span` resident up to `end`; return by how many tokens it has grown."""
        before = span.kv_end
        tokens = end - before
        if before == span.start:
            span.parent.children_resident += 1
        span.kv_end = end
        span.size_bytes += tokens * self._kv_bytes
        if end > span.kv_admitted_end:
            span.kv_admitted_end = end
        return tokens

    def _admits(self, candidate: Entry, size_bytes: int) -> bool:
        departures, pool = NO_DEPARTURES, self.pool
        if size_bytes > pool.free_bytes:
            # No room is made for a state that can never fit; of KV, what fits enters.
            never = size_bytes > pool.total_bytes and isinstance(candidate, Checkpoint)
            foresee = nothing if never else self.foresee
            departures = Departures(size_bytes - pool.free_bytes, foresee)
        return self._admission.admit(candidate, size_bytes, departures)

    def foresee(self, short_bytes: int) -> Iterator[Departure]:
        """Return what `_make_room` would let go of, worked out as it is looked at."""
        victims = self._eviction.victims()
        return departures_of(victims, short_bytes, self._end_of_rest, self._kv_bytes)

    def _fitting_end(self, span: KvSpan) -> int:
        """Return how deep the KV of `span` may grow into the free bytes, in whole pages."""
        end = span.kv_end + self.pool.free_bytes // self._kv_bytes
        return end - end % self._page_tokens

    # --- out --------------------------------------------------------------------------------

    def remove(self, entry: Entry) -> None:
        """Let go of an evictable entry: a state, or all KV of a span with its states."""
        if isinstance(entry, Checkpoint):
            self._drop(entry)
        else:
            self._cut(entry, entry.start)

    def shorten(self, span: KvSpan, least: int) -> None:
        """Let go of the last page of `span`, down to token `least` at most, if nothing needs it."""
        end = span.kv_end - 1
        end = max(end - end % self._page_tokens, least, span.start)
        if span.evictable and end < span.kv_end:
            self._cut(span, end)

    def _make_whole_room(self, size_bytes: int) -> bool:
        """Evict until `size_bytes` fit, nothing if they never can; say whether they do."""
        return size_bytes <= self.pool.total_bytes and self._make_room(size_bytes)

    def _make_room(self, size_bytes: int) -> bool:
        """Evict until `size_bytes` fit, or nothing more can go; say whether they do."""
        pool, next_victim = self.pool, self._eviction.victim
        if not pool.capacity_bytes:
            return False
        while size_bytes > pool.free_bytes:
            victim = next_victim()
            if victim is None:
                return False
            if isinstance(victim, Checkpoint):
                if not victim.resident:
                    raise self._gone()
                self._drop(victim)
            elif isinstance(victim, KvSpan):
                end = self._end_of_rest(victim, size_bytes - pool.free_bytes)
                if end >= victim.kv_end:
                    raise self._gone()
                self._cut(victim, end)
            else:
                raise self._no_entry(victim)
        return True

    def _no_entry(self, victim: object) -> UsageError:
        return UsageError(
            f"eviction {type(self._eviction).__name__}: victim returned "
            f"{printable(repr(victim), 60)}; expected an entry of the cache, or None"
        )

    def _gone(self) -> UsageError:
        return UsageError(
            f"eviction {type(self._eviction).__name__} names a victim that is not in the cache"
        )

    def _drop(self, checkpoint: Checkpoint) -> None:
        checkpoint.resident = False
        checkpoint.span.remove(checkpoint)
        self.pool.give_checkpoint(checkpoint.size_bytes)
        self.evicted_checkpoints += 1
        self._eviction.on_evict(checkpoint)

    def _end_of_rest(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return where the KV of a victim is to end: `short_bytes` are free then, or all goes."""
        end = span.start
        if not self._whole_spans and (span.checkpoints or short_bytes < span.size_bytes):
            end = self._trimmed_end(span, short_bytes)
            if self._spares_states and span.checkpoints:
                end = max(end, self._end_behind(span, span.checkpoints[-1].position))
        return end

    def _end_behind(self, span: KvSpan | Rest, position: int) -> int:
        """Return the first page boundary from `position` on, or 0 where no KV lies behind it."""
        end = position + -position % self._page_tokens
        return end if end < span.kv_end else 0

    def _cut(self, span: KvSpan, end: int) -> None:
        """Let go of the KV of `span` beyond token `end`, and of the states there."""
        freed_bytes = (span.kv_end - end) * self._kv_bytes
        span.kv_end = end
        span.size_bytes -= freed_bytes
        self.pool.give_kv(freed_bytes)
        while span.checkpoints and span.checkpoints[-1].position > end:
            self._drop(span.checkpoints[-1])
        if end == span.start:
            self._eviction.on_evict(span)
            parent = span.parent
            parent.children_resident -= 1
            if not parent.children_resident and not parent.pins:
                self._eviction.on_evictable(parent)

    def _trimmed_end(self, span: KvSpan | Rest, short_bytes: int) -> int:
        """Return the deepest page boundary to which `span` must shrink to free `short_bytes`.

        States beyond the new end go too, since a state needs the KV of every token before it.
        """
        end = span.kv_end - -(-short_bytes // self._kv_bytes)
        for checkpoint in reversed(span.checkpoints):
            if end >= checkpoint.position:
                break
            short_bytes -= checkpoint.size_bytes
            end = min(span.kv_end - -(-short_bytes // self._kv_bytes), checkpoint.position - 1)
        end -= end % self._page_tokens
        return end if end > span.start else span.start

"""Storing and evicting cache entries, with admission control and pins against eviction."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simulator.base.errors import UsageError, printable
from simulator.cache.interface import Layout
from simulator.cache.pool import Pool
from simulator.plugins.departures import (
    NO_DEPARTURES,
    Departure,
    Departures,
    departures_of,
    nothing,
)
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import AdmissionPolicy


class Residency:
    """Stores cache entries (KV and states) and evicts them, as the policies decide.

    KV is kept in spans, each of which is the KV of consecutive tokens.

    Parameters
    ----------
    layout
        The pools with their eviction policies, and entry sizes.
    admission
        The admission policy.

    Attributes
    ----------
    asks
        Whether the admission policy decides about each entry, rather than admit all.
    """

    def __init__(self, layout: Layout, admission: AdmissionPolicy) -> None:
        self.layout = layout
        self._kv, self._states = layout.kv, layout.states
        self._shared = layout.kv is layout.states
        self._end_of_rest = layout.end_of_rest
        self._admission = admission
        self.asks = not admission.always
        self._kv_bytes, self._state_bytes = layout.kv_bytes_per_token, layout.state_bytes
        # A purely recurrent model has KV of 0 bytes; evicting it would free nothing.
        self._evicts_kv = layout.kv.evicts and layout.kv_bytes_per_token > 0
        self._evicts_states = layout.states.evicts
        self._hits_paths = layout.kv.order.hits_paths

    # --- informing the policies -------------------------------------------------------------

    def note_use(
        self, path: KvSpan, fresh: list[KvSpan], used: Checkpoint | None, written: list[Checkpoint]
    ) -> None:
        """Inform the eviction policies of what a request has used and stored.

        It is called after everything is stored. KV comes first, from the deepest span upwards, so
        that no span is older than its descendants. The states come after, so that they outlive the
        KV last used by the same request.

        Parameters
        ----------
        path
            The deepest span of the path that was already resident; the root if its use is not
            counted.
        fresh
            The newly stored spans below it, from the top.
        used
            The state that the request resumed from, if its use is counted.
        written
            The states stored by the request, ascending.
        """
        if self._evicts_kv:
            order = self._kv.order
            on_insert, on_hit = order.on_insert, order.on_hit
            for span in reversed(fresh):
                on_insert(span)
            if not self._hits_paths:
                if path.stop:
                    on_hit(path)
            else:
                while path.stop:
                    on_hit(path)
                    path = path.parent
        if self._evicts_states:
            order = self._states.order
            if used is not None and used.position:
                order.on_hit(used)
            for checkpoint in written:
                order.on_insert(checkpoint)

    def note_split(self, upper: KvSpan, lower: KvSpan, *, unpinned: bool) -> None:
        """Inform the policies that a KV span was split.

        Parameters
        ----------
        upper, lower
            The new upper part, and the lower part, which is the former span.
        unpinned
            Whether the lower part's last pin moved to the upper part.
        """
        if self.asks:
            self._admission.on_split(upper, lower)
        if self._kv.evicts:
            self._kv.order.on_split(upper, lower)
            if unpinned and lower.evictable and self._evicts_kv:
                self._kv.order.on_evictable(lower)
        if self._evicts_states and not self._shared:
            self._states.order.on_states_split(upper, lower)

    def unpin(self, span: KvSpan, checkpoint: Checkpoint | None) -> None:
        """Remove one pin from a KV span, and one from a checkpoint if given."""
        span.pins -= 1
        if checkpoint is not None:
            checkpoint.pins -= 1
        if self._evicts_kv and not span.pins and not span.children_resident:
            self._kv.order.on_evictable(span)
        if self._evicts_states and checkpoint is not None and not checkpoint.pins:
            self._states.order.on_evictable(checkpoint)

    # --- storing ----------------------------------------------------------------------------
    # The eviction policies are informed by `note_use`, after everything is stored.

    def hold(self, tokens: int, states: int) -> bool:
        """Reserve memory for a running request; return False if no room can be made."""
        if not self._make_room_for_both(tokens * self._kv_bytes, states * self._state_bytes):
            return False
        self._kv.hold(tokens * self._kv_bytes)
        self._states.hold(states * self._state_bytes)
        return True

    def give_back(self, tokens: int, states: int) -> None:
        """Free memory reserved for a running request."""
        self._kv.hold(-tokens * self._kv_bytes)
        self._states.hold(-states * self._state_bytes)

    def make_room_for(self, tokens: int, states: int) -> bool:
        """Make room for everything a request will store; return whether all of it is sure to fit.

        With an admission policy that decides per entry, nothing is sure, so nothing is evicted
        here.
        """
        if self.asks:
            return False
        kv_bytes, states_bytes = tokens * self._kv_bytes, states * self._state_bytes
        if kv_bytes + states_bytes <= self._kv.free_bytes and self._shared:  # the usual case
            return True
        return self._make_room_for_both(kv_bytes, states_bytes)

    def admits_rest(self, span: KvSpan, stop: int) -> bool:
        """Ask the admission policy, once, about all missing KV of a span up to token `stop`."""
        return (
            not self.asks
            or span.kv_end >= stop
            or self._admits(span, (stop - span.kv_end) * self._kv_bytes, self._kv)
        )

    def fill(self, top: KvSpan, below: list[KvSpan], upto: int) -> None:
        """Store the rest of `top` and the spans `below` it up to token `upto`; they must fit."""
        kv_bytes = self._kv_bytes
        end = top.stop if top.stop < upto else upto
        tokens = self._grow(top, end) if top.kv_end < end else 0
        for span in below:  # none of these is resident yet
            end, start = span.stop, span.start
            if end > upto:
                end = upto
            span.kv_end = end
            if end > span.kv_admitted_end:
                span.kv_admitted_end = end
            span.size_bytes = (end - start) * kv_bytes
            span.parent.children_resident += 1
            tokens += end - start
        if tokens:
            self._kv.take_kv(tokens * kv_bytes)

    def extend(self, span: KvSpan, end: int) -> bool:
        """Store the KV of `span` up to token `end`, or as much as fits; return whether all is in.

        `span` must be pinned and admitted, and all KV above it resident.
        """
        if end <= span.kv_end:
            return True
        size_bytes = (end - span.kv_end) * self._kv_bytes
        fits = size_bytes <= self._kv.free_bytes or self._make_room(self._kv, size_bytes)
        if not fits:
            end = self.layout.fitting_end(span)
        if end > span.kv_end:
            self._kv.take_kv(self._grow(span, end) * self._kv_bytes)
        return fits

    def add_checkpoint(self, span: KvSpan, position: int) -> Checkpoint | None:
        """Store a state at `position` of a KV span; None if it is not admitted or does not fit.

        KV must be resident there, and no state.
        """
        size_bytes, pool = self._state_bytes, self._states
        checkpoint = Checkpoint(span, position, size_bytes)
        if self.asks and not self._admits(checkpoint, size_bytes, pool):
            return None
        if size_bytes > pool.free_bytes and not self._make_whole_room(pool, size_bytes):
            return None
        span.add(checkpoint)
        pool.take_checkpoints(1, size_bytes)
        return checkpoint

    def fill_checkpoints(self, span: KvSpan, positions: list[int]) -> list[Checkpoint]:
        """Store states at ascending `positions` on the path that ends at `span`.

        KV must be resident at each, there must be room, and no state must be stored there yet.
        Returns the states, ascending.
        """
        size_bytes = self._state_bytes
        checkpoints = []
        for position in reversed(positions):
            while span.start >= position:
                span = span.parent
            checkpoints.append(Checkpoint(span, position, size_bytes))
        checkpoints.reverse()
        for checkpoint in checkpoints:  # in ascending order each is appended to its span's list
            checkpoint.span.add(checkpoint)
        self._states.take_checkpoints(len(checkpoints), len(checkpoints) * size_bytes)
        return checkpoints

    def foresee(self, pool: Pool, short_bytes: int) -> Iterator[Departure]:
        """Return, lazily, what would be evicted to free `short_bytes` in a pool."""
        victims = pool.order.victims()
        return departures_of(
            victims, short_bytes, self._end_of_rest, self._kv_bytes, with_states=self._shared
        )

    def _grow(self, span: KvSpan, end: int) -> int:
        """Extend the resident KV of `span` to token `end`; return the number of tokens added."""
        before = span.kv_end
        tokens = end - before
        if before == span.start:
            span.parent.children_resident += 1
        span.kv_end = end
        span.size_bytes += tokens * self._kv_bytes
        if end > span.kv_admitted_end:
            span.kv_admitted_end = end
        return tokens

    def _admits(self, candidate: Entry, size_bytes: int, pool: Pool) -> bool:
        """Ask the admission policy whether an entry may be stored."""
        departures = NO_DEPARTURES
        if size_bytes > pool.free_bytes:
            # Nothing is evicted for a state that can never fit; KV may be stored in part.
            never = size_bytes > pool.total_bytes and isinstance(candidate, Checkpoint)
            foresee = nothing if never else self._foreseen_in(pool)
            departures = Departures(size_bytes - pool.free_bytes, foresee)
        return self._admission.admit(candidate, size_bytes, departures)

    # --- removing ---------------------------------------------------------------------------

    def remove(self, entry: Entry) -> None:
        """Evict an evictable entry: a state, or all KV of a span together with its states."""
        if isinstance(entry, Checkpoint):
            self._drop(entry)
        else:
            self._cut(entry, entry.start)

    def shorten(self, span: KvSpan, least: int) -> None:
        """Evict the last page of a KV span, unless it is needed; keep the tokens before `least`."""
        end = max(self.layout.page_start(span), least, span.start)
        if span.evictable and end < span.kv_end:
            self._cut(span, end)

    def _make_room_for_both(self, kv_bytes: int, states_bytes: int) -> bool:
        """Make room for KV and states that are stored together; return whether it succeeded."""
        kv, states = self._kv, self._states
        if self._shared:
            kv_bytes += states_bytes
            return kv_bytes <= kv.free_bytes or self._make_whole_room(kv, kv_bytes)
        if kv_bytes > kv.free_bytes and not self._make_whole_room(kv, kv_bytes):
            return False
        return states_bytes <= states.free_bytes or self._make_whole_room(states, states_bytes)

    def _make_whole_room(self, pool: Pool, size_bytes: int) -> bool:
        """Evict until `size_bytes` fit, or nothing if they never can; return whether they fit."""
        return size_bytes <= pool.total_bytes - pool.held_bytes and self._make_room(
            pool, size_bytes
        )

    def _make_room(self, pool: Pool, size_bytes: int) -> bool:
        """Evict until `size_bytes` fit or nothing more can be evicted; return whether they fit."""
        next_victim = pool.order.victim
        if not pool.capacity_bytes:
            if pool.capacity_bytes is None:
                raise UsageError(f"the cache would hold {pool.total_bytes:,} bytes or more")
            return False
        while size_bytes > pool.free_bytes:
            victim = next_victim()
            if victim is None:
                return False
            if isinstance(victim, Checkpoint) and pool is self._states:
                if not victim.resident:
                    raise self._gone(pool)
                self._drop(victim)
            elif isinstance(victim, KvSpan) and pool is self._kv:
                end = self._end_of_rest(victim, size_bytes - pool.free_bytes)
                if end >= victim.kv_end:
                    raise self._gone(pool)
                self._cut(victim, end)
            else:
                raise self._no_entry(pool, victim)
        return True

    def _drop(self, checkpoint: Checkpoint) -> None:
        """Evict a state and inform the eviction policy."""
        checkpoint.resident = False
        checkpoint.span.remove(checkpoint)
        self._states.give_checkpoints(1, checkpoint.size_bytes)
        if self._evicts_states:
            self._states.order.on_evict(checkpoint)

    def _cut(self, span: KvSpan, end: int) -> None:
        """Evict the KV of `span` after token `end`, and the states there."""
        freed_bytes = (span.kv_end - end) * self._kv_bytes
        span.kv_end = end
        span.size_bytes -= freed_bytes
        self._kv.give_kv(freed_bytes)
        checkpoints = span.checkpoints
        while checkpoints and checkpoints[-1].position > end:
            self._drop(checkpoints[-1])
            checkpoints = span.checkpoints
        if end == span.start:
            order = self._kv.order
            order.on_evict(span)
            parent = span.parent
            parent.children_resident -= 1
            if not parent.children_resident and not parent.pins:
                order.on_evictable(parent)

    def _foreseen_in(self, pool: Pool) -> Callable[[int], Iterator[Departure]]:
        """Return a function from missing bytes to the evictions foreseen in a pool."""
        return lambda short_bytes: self.foresee(pool, short_bytes)

    def _no_entry(self, pool: Pool, victim: object) -> UsageError:
        """Return the error for an eviction policy that names something else than an entry."""
        what = "an entry of the cache" if self._shared else f"an entry of the pool of {pool.name}"
        return UsageError(
            f"eviction {type(pool.order).__name__}: victim returned "
            f"{printable(repr(victim), 60)}; expected {what}, or None"
        )

    def _gone(self, pool: Pool) -> UsageError:
        """Return the error for an eviction policy that names an entry not in the cache."""
        return UsageError(
            f"eviction {type(pool.order).__name__} names a victim that is not in the cache"
        )

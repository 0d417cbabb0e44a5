"""The shared prefix cache, controlled by placement, admission and eviction policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from simulator.base.errors import UsageError, printable
from simulator.cache.integrity import check_integrity
from simulator.cache.interface import Layout, Usage
from simulator.cache.match import match
from simulator.cache.pool import Pool
from simulator.cache.request import Running, overlap_of
from simulator.cache.residency import Residency
from simulator.cache.state_cap import CapRule, StateCap
from simulator.cache.tree import KvTree, mark_done, span_holding
from simulator.plugins.context import BLOCK, CacheContext
from simulator.plugins.entries import Checkpoint, KvSpan, with_position
from simulator.plugins.protocols import (
    AdmissionPolicy,
    EvictionPolicy,
    Expiring,
    Placer,
    Prefix,
    Window,
)
from simulator.trace.trace import Trace


class PolicyCache:
    """A prefix cache whose decisions are made by policies.

    Parameters
    ----------
    trace
        The requests.
    context
        Entry sizes, costs and capacity.
    placer, admission
        The placement policy (where states are stored) and the admission policy.
    layout
        The pools, each with its eviction policy.
    count_running
        Whether memory that running requests use outside the cache counts against the capacity: KV
        of tokens that is not stored, one working state, and states being captured. A request that
        does not fit must wait.
    cap
        The largest number of states that are resident for a prefix; None for any number.
    """

    def __init__(
        self,
        trace: Trace,
        context: CacheContext,
        placer: Placer,
        admission: AdmissionPolicy,
        layout: Layout,
        *,
        count_running: bool = False,
        cap: CapRule | None = None,
    ) -> None:
        self.pools: Mapping[str, Pool] = layout.pools
        self._kv, self._states = layout.kv, layout.states
        self.grid = context.grid
        orders = [pool.order for pool in self.pools.values()]
        self.tree = KvTree(
            trace.tree, self._on_split, foresee=any(order.clairvoyant for order in orders)
        )
        # Entries expire only if requests have arrival times.
        timed = trace.arrival_seconds is not None
        self._expiring = [order for order in orders if timed and isinstance(order, Expiring)]
        self.residency = Residency(layout, admission)
        # Reading an int from a memoryview is several times faster than from a numpy array.
        self._leaf = trace.leaf.data
        self._after = None if trace.after is None else trace.after.data
        self._stop = trace.tree.stop.data
        self._session = trace.session.data
        self._label = trace.label.data
        self._takes_own = context.cut == BLOCK
        self._placer = placer
        policies: list[AdmissionPolicy | EvictionPolicy] = [admission, *orders]
        self._observers = [policy for policy in policies if policy.observes]
        self._implicit = placer.implicit
        self._bare_kv = placer.implicit or getattr(admission, "stores_bare_kv", True)
        self._cap = (
            None if cap is None or placer.implicit else StateCap(cap, placer, self.grid.step)
        )
        self._step = context.grid.step
        self._counts_running = count_running
        self._running: dict[int, Running] = {}
        self._pinning: dict[int, Running] = {}  # requests with a `pinned` span
        context = replace(context, common={})  # each cache has its own
        for policy in (placer, admission):
            seer = policy.clairvoyant
            policy.begin(
                replace(
                    context,
                    trace=trace if seer else None,
                    rehearse=context.rehearse if seer and policy is placer else None,
                )
            )
        for pool in self.pools.values():
            pool.order.begin(
                replace(
                    context,
                    rehearse=None,
                    capacity_bytes=pool.capacity_bytes,
                    free_bytes=partial(_free_bytes_of, pool),
                    orders_kv=pool is layout.kv,
                    orders_states=pool is layout.states,
                    trace=trace if pool.order.clairvoyant else None,
                    placer=placer if pool.order.clairvoyant else None,
                )
            )

    def admit(self, request: int, now_seconds: float = 0.0) -> Running | None:
        """Match the prompt of a request and pin what it reuses; None if it must wait for memory.

        Expired entries are removed first, unless a running request uses them.

        Parameters
        ----------
        request
            Index of the request in the trace.
        now_seconds
            Simulated time.
        """
        for order in self._expiring:
            while (entry := order.expired(now_seconds)) is not None:
                self.residency.remove(entry)
        leaf = self.tree.at(self._leaf[request], request)
        matched = match(leaf, request, self.grid, implicit=self._implicit)
        running = Running(
            request,
            self._session[request],
            self._label[request],
            matched,
            self._end_of(request, leaf),
        )
        self._running[request] = running
        matched.kv_span.pins += 1
        if matched.checkpoint is not None:
            matched.checkpoint.pins += 1
        else:
            self._pinning[request] = running
            running.pinned, running.pinned_end = matched.kv_span, matched.resume
        if self._counts_running and not self._hold(running):
            self.release(running)
            return None
        return running

    def plan(self, running: Running, upto: int) -> None:
        """Ask the placement policy where to store states in the chunk that ends at token `upto`.

        Positions are rounded down to multiples of the trace's block size and the model's alignment.

        Raises
        ------
        UsageError
            If the policy returns anything but positions within the prompt and its answer.
        """
        if self._implicit:
            return
        start, end = running.computed, running.end
        prefix = self._prefix_of(running)
        wanted = self._placer.place(prefix, Window(start, upto))
        try:
            outside = len(wanted) > 0 and (wanted[-1] > end or wanted[0] < 1)
        except TypeError:
            raise self._no_positions(wanted) from None
        if outside:
            wrong = wanted[-1] if wanted[-1] > end else wanted[0]
            name = type(self._placer).__name__
            raise UsageError(f"placer {name} wants position {wrong} in a prompt of {end} tokens")
        granularity, alignment, deepest = self.grid.granularity, self.grid.alignment, start
        for position in wanted:
            if position > upto:
                break
            on_grid = position - position % granularity  # `Grid.floor`, without a call
            on_grid -= on_grid % alignment
            if on_grid > deepest:
                running.captures.append(on_grid)
                deepest = on_grid
            if on_grid != position and position > start:
                running.floored.append(position)
        if not self._bare_kv:
            running.kv_wanted = self.grid.floor(wanted[-1]) if len(wanted) else 0
        if self._cap is not None and running.captures:
            self._spare_captures(self._cap, running, prefix)
        if self._counts_running:
            self._hold_captures(running)

    def commit(self, running: Running, upto: int, now_seconds: float) -> None:
        """Store a request's KV and states up to token `upto`, for reuse by other requests.

        Admission and eviction policies observe a request at its first commit, the placement policy
        at its last.
        """
        last = upto >= running.end
        span = running.match.leaf
        if upto != span.stop:
            span = self._span_at(running, upto)
        mark_done(span, upto)
        first = running.computed == running.match.resume
        if first:
            for policy in self._observers:
                policy.observe(overlap_of(running, running.match.done_overlap, span, now_seconds))
        if self._counts_running:
            self._give_back_chunk(running, upto)
        deepest = self._store(running, span, upto, first=first)
        if running.floored:
            for position in running.floored:
                holder = span_holding(span, position)
                holder.wanted = with_position(holder.wanted, position)
            running.floored = []
        if running.captures:
            running.captures = []
        running.computed = upto
        if not last:
            self._pin(running, deepest, min(deepest.kv_end, upto))
        elif self._placer.observes:
            self._placer.observe(overlap_of(running, running.match.done_overlap, span, now_seconds))
        if self._counts_running and not last:
            self._hold_unstored(running)

    def release(self, running: Running) -> None:
        """Unpin what `running` used and free the memory reserved for it."""
        del self._running[running.request]
        if running.held_tokens or running.held_states:
            self.residency.give_back(running.held_tokens, running.held_states)
            running.held_tokens = running.held_states = 0
        if running.pinned is not None:
            del self._pinning[running.request]
            self.residency.unpin(running.pinned, None)
        checkpoint = running.match.checkpoint
        if checkpoint is not None:
            self.residency.unpin(checkpoint.span, checkpoint)

    def usage(self) -> Usage:
        """Return the number of stored states, their bytes, and the bytes of KV."""
        states = self._states
        return states.checkpoints, states.checkpoint_bytes, self._kv.kv_bytes

    def check(self) -> None:
        """Recount the cache from scratch.

        Raises
        ------
        IntegrityError
            If bytes, links, pins or capacity differ from the recount.
        """
        running = list(self._running.values())
        check_integrity(self.tree, self.residency.layout, running, self._cap)

    # --- pins and reserved memory -------------------------------------------------------------

    def _on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Move the pins of a split KV span to the part whose KV they protect; tell the policies."""
        pins = lower.pins
        if pins:
            # A state in use pins its span; the split has already moved it to its part.
            upper.pins = sum(checkpoint.pins for checkpoint in upper.checkpoints)
            for running in self._pinning.values():
                if running.pinned is lower and running.pinned_end <= upper.stop:
                    running.pinned = upper
                    upper.pins += 1
            lower.pins -= upper.pins
        if self._cap is not None:
            self._cap.split(upper, lower)
        self.residency.note_split(upper, lower, unpinned=bool(pins) and not lower.pins)

    def _pin(self, running: Running, span: KvSpan, end: int) -> None:
        """Pin the KV that a running request has stored up to token `end`; drop its former pin.

        `span` is the span that contains `end`.
        """
        before = running.pinned
        running.pinned, running.pinned_end = span, end
        self._pinning[running.request] = running
        if before is not span:
            span.pins += 1
            if before is not None:
                self.residency.unpin(before, None)

    def _hold(self, running: Running) -> bool:
        """Reserve memory for one working state and the KV of tokens after those already resident.

        Counting from the resident KV rather than from the resume point avoids reserving memory
        twice for KV that is already resident after the resume point.
        """
        tokens = running.end - running.match.kv_span.kv_end
        if not self.residency.hold(tokens, 1):
            return False
        running.held_tokens, running.held_states = tokens, 1
        return True

    def _hold_captures(self, running: Running) -> None:
        """Reserve memory for the states to store in a chunk; skip those that do not fit."""
        for number in range(len(running.captures)):
            if not self.residency.hold(0, 1):
                del running.captures[number:]
                return
            running.held_states += 1

    def _give_back_chunk(self, running: Running, upto: int) -> None:
        """Free the memory reserved for tokens up to `upto` and for states stored in the chunk."""
        tokens = max(0, running.held_tokens - (running.end - upto))
        states = running.held_states - 1
        self.residency.give_back(tokens, states)
        running.held_tokens -= tokens
        running.held_states -= states

    def _hold_unstored(self, running: Running) -> None:
        """Reserve memory again for KV that was computed but could not be stored, if it fits."""
        tokens = running.computed - running.pinned_end
        if tokens and self.residency.hold(tokens, 0):
            running.held_tokens += tokens

    # --- positions on the path of a request ---------------------------------------------------

    def _end_of(self, request: int, leaf: KvSpan) -> int:
        """Return the tokens of prompt plus answer, or of the prompt if the answer is unknown."""
        if self._after is None or (after := self._after[request]) < 0:
            return leaf.stop
        return self._stop[after]

    def _span_at(self, running: Running, upto: int) -> KvSpan:
        """Return the KV span on the request's path that contains token `upto`."""
        span = running.match.leaf
        if upto > span.stop and self._after is not None:
            span = self.tree.at(self._after[running.request], running.request)
        return span_holding(span, upto)

    # --- the placer ---------------------------------------------------------------------------

    def _prefix_of(self, running: Running) -> Prefix:
        """Return what a placer is told about the prompt of a running request."""
        matched = running.match
        return Prefix(
            matched.leaf.stop,
            matched.resume,
            matched.done_overlap,
            self._step,
            running.session,
            running.label,
            matched.leaf,
            running.end,
            running.request,
        )

    def _no_positions(self, wanted: object) -> UsageError:
        """Return the error for a placement policy that did not return ascending positions."""
        return UsageError(
            f"placer {type(self._placer).__name__}: place returned {printable(repr(wanted), 60)}; "
            "expected positions in increasing order"
        )

    # --- the cap on resident states -----------------------------------------------------------

    def _spare_captures(self, cap: StateCap, running: Running, prefix: Prefix) -> None:
        """Skip the captures in the prompt that the cap would not let stay, to save their time.

        What else they would push out is decided when they are stored.
        """
        captures, leaf = running.captures, running.match.leaf
        inside = [position for position in captures if position <= leaf.stop]
        if inside:
            stays = set(cap.choose(running, prefix, leaf, inside)[0])
            running.captures = [p for p in captures if p in stays or p > leaf.stop]

    def _within_cap(self, cap: StateCap, running: Running, end: KvSpan) -> list[int]:
        """Give up states for the captures of a request; return those that the cap lets stay.

        Where an admission policy may refuse them, states are given up only for what was stored.
        """
        prefix = self._prefix_of(running)
        captures, leaving = cap.choose(running, prefix, end, running.captures)
        if not self.residency.asks:
            self._give_up(running, leaving)
        return captures

    def _note_in_cap(
        self, cap: StateCap, running: Running, end: KvSpan, new: list[Checkpoint]
    ) -> None:
        """Count states that were stored, and give up others for them if that is still to do."""
        cap.note(new)
        if not self.residency.asks:
            return
        positions = [checkpoint.position for checkpoint in new]
        leaving = cap.choose(running, self._prefix_of(running), end, positions)[1]
        self._give_up(running, leaving)

    def _give_up(self, running: Running, leaving: list[Checkpoint]) -> None:
        """Remove states; the one that `running` resumed from is read already, and is unpinned."""
        for checkpoint in leaving:
            if checkpoint is running.match.checkpoint:
                running.match.checkpoint = None
                if running.pinned is None:
                    self._pin(running, checkpoint.span, running.match.resume)
                self.residency.unpin(checkpoint.span, checkpoint)
            self.residency.remove(checkpoint)

    # --- storing ------------------------------------------------------------------------------

    def _store(self, running: Running, end: KvSpan, upto: int, *, first: bool) -> KvSpan:
        """Store the KV of a path up to token `upto`, which lies in span `end`, and the new states.

        Returns the deepest resident span of the path afterwards.
        """
        residency, written = self.residency, len(running.written)
        if not self._bare_kv and running.kv_wanted < upto:
            upto = running.kv_wanted
        span, missing = _resident_part(end, upto)
        captures = running.captures
        if captures and captures[0] <= span.kv_end:
            captures = running.captures = _absent(span, captures)
        if self._cap is not None and captures:
            captures = running.captures = self._within_cap(self._cap, running, end)
        before = span.kv_end
        span.pins += 1  # this keeps all resident spans above it, too
        tokens = upto - before
        if residency.make_room_for(tokens if tokens > 0 else 0, len(captures)):
            residency.fill(span, missing, upto)
            if captures:
                running.written += residency.fill_checkpoints(end, captures)
            fresh = missing
        else:
            fresh = self._store_what_fits(running, span, missing, upto)
        new = running.written[written:] if written else running.written
        if first:
            residency.note_use(span, fresh, running.match.checkpoint, new)
        else:
            residency.note_use(self.tree.root, fresh, None, new)
        residency.unpin(span, None)
        if self._cap is not None and new:
            self._note_in_cap(self._cap, running, end, new)
        deepest = fresh[-1] if fresh else span
        if running.overflows and self._takes_own:
            self._take_own(running, deepest, before)
            while deepest.kv_end == deepest.start:
                deepest = deepest.parent
        return deepest

    def _take_own(self, running: Running, span: KvSpan, before: int) -> None:
        """Evict the last page of a KV span if `running` stored it itself, after token `before`.

        This models block caches (cut "block"), which free the last page of an oversized prompt
        while they try to make room for its next one.
        """
        # The reused prefix ends above token `before`, so the request's own pins are ignored here.
        checkpoint = running.match.checkpoint
        own = (checkpoint is not None and checkpoint.span is span) + (running.pinned is span)
        span.pins -= own
        self.residency.shorten(span, before)
        span.pins += own

    def _store_what_fits(
        self, running: Running, span: KvSpan, missing: list[KvSpan], upto: int
    ) -> list[KvSpan]:
        """Store KV and states in token order until nothing more fits; return the stored spans.

        The states are pinned meanwhile, so that if the prompt is larger than the cache, a usable
        prefix of it is kept.
        """
        written = len(running.written)
        pending = running.captures[::-1]
        while pending and pending[-1] <= span.start:  # KV was resident, the state was not
            position = pending.pop()
            self._add_pinned(running, span_holding(span, position), position)
        whole = self._extend(running, span, pending, upto)
        fresh: list[KvSpan] = []
        for below in missing:
            if not whole:
                break
            below.pins += 1
            whole = self._extend(running, below, pending, upto)
            if below.kv_end > below.start:
                fresh.append(below)
            else:
                below.pins -= 1
        for below in fresh:
            below.pins -= 1
        for checkpoint in running.written[written:]:
            checkpoint.pins -= 1
        return fresh

    def _extend(self, running: Running, span: KvSpan, pending: list[int], upto: int) -> bool:
        """Store a KV span up to token `upto` with its states; return whether all was stored.

        `pending` holds the positions of states still to store, the next one last.
        """
        stop = span.stop if span.stop < upto else upto
        end = stop if self.residency.admits_rest(span, stop) else span.kv_end
        while pending and pending[-1] <= end:
            position = pending.pop()
            if not self.residency.extend(span, position):
                running.overflows = True
                return False
            self._add_pinned(running, span, position)
        if not self.residency.extend(span, end):
            running.overflows = True
            return False
        return end >= stop

    def _add_pinned(self, running: Running, span: KvSpan, position: int) -> None:
        """Store a state and pin it, if it is admitted and fits."""
        checkpoint = self.residency.add_checkpoint(span, position)
        if checkpoint is not None:
            checkpoint.pins += 1
            running.written.append(checkpoint)


def _resident_part(end: KvSpan, upto: int) -> tuple[KvSpan, list[KvSpan]]:
    """Return the deepest resident span of a path, and those below it that begin before `upto`."""
    missing = []
    span = end
    while span.kv_end == span.start:
        if span.start < upto:
            missing.append(span)
        span = span.parent
    missing.reverse()
    return span, missing


def _free_bytes_of(pool: Pool) -> int:
    """Return the free memory of a pool, in bytes."""
    return pool.free_bytes


def _absent(span: KvSpan, positions: list[int]) -> list[int]:
    """Return the positions at which no state is stored yet.

    `span` is the deepest resident span of their path. Another request may have stored a state since
    this one was matched, and a repeated prompt has one at its end; no memory is needed for those.
    """
    absent: list[int] = []
    for position in reversed(positions):
        while span.start >= position:
            span = span.parent
        checkpoint = span.deepest_checkpoint(position)
        if checkpoint is None or checkpoint.position != position:
            absent.append(position)
    return absent[::-1]

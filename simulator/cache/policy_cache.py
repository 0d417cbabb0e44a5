"""The shared prefix cache, into which any placer, admission and eviction policy plugs."""

from __future__ import annotations

from dataclasses import replace

from simulator.base.errors import UsageError, printable
from simulator.cache.integrity import check_integrity
from simulator.cache.match import match
from simulator.cache.request import Grant
from simulator.cache.residency import Store
from simulator.cache.tree import KvTree
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry, KvSpan, with_position
from simulator.plugins.protocols import (
    AdmissionPolicy,
    EvictionPolicy,
    Expiring,
    Overlap,
    Placer,
    Prefix,
)
from simulator.trace.trace import Trace


class PolicyCache:
    """A cache ruled by policies.

    A request is admitted when its prefill starts, published when it ends, then released.

    Parameters
    ----------
    trace
        The requests.
    context
        Bytes, costs and capacity.
    placer, admission, eviction
        The policies.
    """

    def __init__(
        self,
        trace: Trace,
        context: CacheContext,
        placer: Placer,
        admission: AdmissionPolicy,
        eviction: EvictionPolicy,
    ) -> None:
        self.grid = context.grid
        self.tree = KvTree(trace.tree, self._on_split, foresee=eviction.clairvoyant)
        expired = eviction.expired if isinstance(eviction, Expiring) else None
        self._expired = None if trace.arrival_seconds is None else expired  # no times, no ages
        self.store = Store(context, admission, eviction, expires=self._expired is not None)
        # Memoryviews give plain ints several times faster than numpy arrays do.
        self._leaf = trace.leaf.data
        self._after = None if trace.after is None else trace.after.data
        self._stop = trace.tree.stop.data
        self._session = trace.session.data
        self._label = trace.label.data
        self._takes_own = context.takes_own
        self._placer = placer
        self._told = [policy for policy in (admission, eviction) if policy.observes]
        self._implicit = placer.implicit
        self._step = context.grid.step
        self._granted: dict[int, Grant] = {}
        for policy in (placer, admission, eviction):
            policy.begin(replace(context, trace=trace if policy.clairvoyant else None))

    def admit(self, request: int, now_seconds: float = 0.0) -> Grant:
        """Match the prompt of a request, pin what it uses and plan its checkpoints.

        What has expired at `now_seconds` has gone before, unless a running request uses it.
        """
        if self._expired is not None:
            while (entry := self._expired(now_seconds)) is not None:
                self.store.remove(entry)
        leaf = self.tree.at(self._leaf[request], request)
        grant = match(leaf, request, self.grid, implicit=self._implicit)
        grant.request = request
        grant.session = self._session[request]
        grant.label = self._label[request]
        grant.kv_span.pins += 1
        if grant.checkpoint is not None:
            grant.checkpoint.pins += 1
            self._plan(grant)
        self._granted[id(grant)] = grant
        return grant

    def publish(self, grant: Grant, now_seconds: float) -> None:
        """Store what `grant` has computed, its answer included: it is visible from now on."""
        grant.end = grant.leaf if self._after is None else self._end_of(grant, self._after)
        _mark_done(grant.end)
        for policy in self._told:
            policy.observe(_overlap_of(grant, now_seconds))
        self._store(grant)
        for position in grant.floored:
            span = _span_holding(grant.end, position)
            span.wanted = with_position(span.wanted, position)
        if self._placer.observes:
            self._placer.observe(_overlap_of(grant, now_seconds))

    def release(self, grant: Grant) -> None:
        """Unpin what `grant` used."""
        del self._granted[id(grant)]
        self.store.unpin(grant.kv_span, grant.checkpoint)

    def check(self) -> None:
        """Recount everything from scratch.

        Raises
        ------
        IntegrityError
            If bytes, closure, pins or capacity are not what they should be.
        """
        running = self._granted.values()
        pinned: list[Entry] = [grant.kv_span for grant in running]
        pinned += [grant.checkpoint for grant in running if grant.checkpoint is not None]
        check_integrity(self.tree, self.store, pinned)

    def _on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Let the pins of a span follow the KV that they hold, and tell the policies."""
        pins = lower.pins
        if pins:
            for grant in self._granted.values():
                if grant.kv_span is lower and grant.resume <= upper.stop:
                    grant.kv_span = upper
                    upper.pins += 1
            lower.pins -= upper.pins
        self.store.note_split(upper, lower, unpinned=bool(pins) and not lower.pins)

    def _end_of(self, grant: Grant, after: memoryview[int]) -> KvSpan:
        """Return the span with which prompt and answer end, the prompt alone if that is unknown."""
        node = after[grant.request]
        return grant.leaf if node < 0 else self.tree.at(node, grant.request)

    def _plan(self, grant: Grant) -> None:
        """Ask the placer, and floor what it wants."""
        stop = end = grant.leaf.stop
        if self._after is not None and (after := self._after[grant.request]) >= 0:
            end = self._stop[after]
        deepest, grid = grant.resume, self.grid
        prefix = Prefix(
            stop,
            deepest,
            grant.done_overlap,
            self._step,
            grant.session,
            grant.label,
            grant.leaf,
            end,
            grant.request,
        )
        wanted = self._placer.place(prefix)
        try:
            outside = len(wanted) > 0 and (wanted[-1] > end or wanted[0] < 1)
        except TypeError:
            raise self._no_positions(wanted) from None
        if outside:
            wrong = wanted[-1] if wanted[-1] > end else wanted[0]
            name = type(self._placer).__name__
            raise UsageError(f"placer {name} wants position {wrong} in a prompt of {end} tokens")
        for position in wanted:
            floored = grid.floor(position)
            if floored > deepest:
                grant.positions.append(floored)
                deepest = floored
            if floored != position and position > grant.resume:
                grant.floored.append(position)

    def _no_positions(self, wanted: object) -> UsageError:
        return UsageError(
            f"placer {type(self._placer).__name__}: place returned {printable(repr(wanted), 60)}; "
            "expected positions in increasing order"
        )

    def _store(self, grant: Grant) -> None:
        """Bring in the KV of the whole path and the planned checkpoints."""
        store, missing = self.store, []
        span = grant.end
        while span.kv_end == span.start:
            missing.append(span)
            span = span.parent
        missing.reverse()
        if grant.positions and grant.positions[0] <= span.kv_end:
            grant.positions = _absent(span, grant.positions)
        before = span.kv_end
        span.pins += 1  # with the deepest resident span pinned, all above it stay
        if store.make_room_for(grant.end.stop - span.kv_end, len(grant.positions)):
            store.fill(span, missing)
            self._add_checkpoints(grant)
            fresh = missing
        else:
            fresh = self._store_what_fits(grant, span, missing)
        store.note_use(span, fresh, grant.checkpoint, grant.written)
        store.unpin(span, None)
        if grant.overflows and self._takes_own:
            self._take_own(grant, fresh[-1] if fresh else span, before)

    def _take_own(self, grant: Grant, span: KvSpan, before: int) -> None:
        """Let go of the last page of `span` if `grant` has brought it, behind token `before`."""
        used = grant.kv_span is span  # up to there, and no further: its pin does not count
        span.pins -= used
        self.store.shorten(span, before)
        span.pins += used

    def _add_checkpoints(self, grant: Grant) -> None:
        """Store the planned checkpoints; the KV of the path is there, and room."""
        span = grant.end
        for position in reversed(grant.positions):
            while span.start >= position:
                span = span.parent
            checkpoint = self.store.add_checkpoint(span, position)
            if checkpoint is not None:
                grant.written.append(checkpoint)
        grant.written.reverse()

    def _store_what_fits(self, grant: Grant, span: KvSpan, missing: list[KvSpan]) -> list[KvSpan]:
        """Bring in KV and checkpoints in the order of the tokens, until no more fit.

        The request's own states are pinned meanwhile, so that what a full cache can hold of an
        oversized prompt is a prefix to resume from. Returns the spans that have come in.
        """
        pending = grant.positions[::-1]
        while pending and pending[-1] <= span.start:  # KV that was resident without a state
            position = pending.pop()
            self._add_pinned(grant, _span_holding(span, position), position)
        whole = self._extend(grant, span, pending)
        fresh: list[KvSpan] = []
        for below in missing:
            if not whole:
                break
            below.pins += 1
            whole = self._extend(grant, below, pending)
            if below.kv_end > below.start:
                fresh.append(below)
            else:
                below.pins -= 1
        for below in fresh:
            below.pins -= 1
        for checkpoint in grant.written:
            checkpoint.pins -= 1
        return fresh

    def _extend(self, grant: Grant, span: KvSpan, pending: list[int]) -> bool:
        """Bring in the rest of `span` with its checkpoints; say whether it is whole."""
        end = span.stop if self.store.admits_rest(span) else span.kv_end
        while pending and pending[-1] <= end:
            position = pending.pop()
            if not self.store.extend(span, position):
                grant.overflows = True
                return False
            self._add_pinned(grant, span, position)
        if not self.store.extend(span, end):
            grant.overflows = True
            return False
        return end == span.stop

    def _add_pinned(self, grant: Grant, span: KvSpan, position: int) -> None:
        checkpoint = self.store.add_checkpoint(span, position)
        if checkpoint is not None:
            checkpoint.pins += 1
            grant.written.append(checkpoint)


def _overlap_of(grant: Grant, now_seconds: float) -> Overlap:
    """Return what policies are told of a request whose prefill has ended."""
    return Overlap(
        grant.done_overlap,
        grant.leaf.stop,
        grant.session,
        grant.label,
        grant.leaf,
        grant.kv_depth,
        grant.resume,
        len(grant.written),
        grant.request,
        now_seconds,
        grant.end,
    )


def _mark_done(span: KvSpan) -> None:
    while not span.done:
        span.done = True
        span = span.parent


def _absent(span: KvSpan, positions: list[int]) -> list[int]:
    """Return the `positions` without a state; `span` is the deepest resident span of their path.

    Another request may have stored one since this one was matched, and a prompt that is repeated
    has its own at the end: no room is to be made for those.
    """
    absent: list[int] = []
    for position in reversed(positions):
        while span.start >= position:
            span = span.parent
        checkpoint = span.deepest_checkpoint(position)
        if checkpoint is None or checkpoint.position != position:
            absent.append(position)
    return absent[::-1]


def _span_holding(span: KvSpan, position: int) -> KvSpan:
    """Return the span of the path up from `span` in which token `position` lies."""
    while span.start >= position:
        span = span.parent
    return span

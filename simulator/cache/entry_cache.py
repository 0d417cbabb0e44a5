"""The cache of the last entries: each a prompt with KV and states of its own, nothing shared.

It is the cache of the original experiments (arXiv 2605.05219). Every request leaves one entry: the
KV of its whole prompt, with its answer where the trace has it, and the states that the placer wants
in it. Of the entries that share most with a prompt, the oldest is used, and of its states the
deepest that the prompt reaches. An entry leaves as a whole, the oldest first. It is named by

`entries:last=20`
    The last 20 entries are kept, whatever they hold, as in the original.
`entries:per_document=20`
    The last 20 of each document are kept: of the prompts that begin with the same tokens.

States before the resume point are captured by a second prefill, as in the original, which is not on
the clock: only restores and prefills of what is not saved are.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.base.errors import UsageError, printable
from simulator.cache.integrity import IntegrityError
from simulator.cache.interface import Usage
from simulator.cache.pool import Pool
from simulator.cache.request import Match, Running, overlap_of
from simulator.cache.state_cap import CapRule, StateCap
from simulator.cache.tree import KvTree, mark_done, span_holding
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Checkpoint, KvSpan, deepest_position
from simulator.plugins.protocols import EvictionPolicy, Placer, Prefix, Window
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

TREE: Final = "tree"
MOST_ENTRIES: Final = 10**9
_FORM: Final = re.compile(r"entries:(?P<kind>last|per_document)=(?P<most>[0-9]{1,10})", re.ASCII)


@dataclass(frozen=True, slots=True)
class EntryRule:
    """How many entries are kept, and whether of each document or of all together."""

    most: int
    per_document: bool

    @property
    def name(self) -> str:
        """Its one spelling."""
        return f"entries:{'per_document' if self.per_document else 'last'}={self.most}"


def parse_kind(text: str) -> EntryRule | None:
    """Parse the name of a kind of cache; return None for `tree`, the cache that shares prefixes.

    Raises
    ------
    UsageError
        If it is neither `tree` nor `entries:last=...` nor `entries:per_document=...`.
    """
    if text.strip() == TREE:
        return None
    form = _FORM.fullmatch(text.strip())
    if form is None or not 1 <= int(form["most"]) <= MOST_ENTRIES:
        raise UsageError(
            f"unknown cache '{printable(text, 60)}'; expected tree, entries:last=20 or "
            "entries:per_document=20"
        )
    return EntryRule(int(form["most"]), form["kind"] == "per_document")


class PromptEntry:
    """A stored prompt: where it ends, its states, and the positions wanted for them."""

    __slots__ = ("document", "end", "pins", "positions", "size_bytes", "tokens", "wanted")

    def __init__(
        self, document: int, end: KvSpan, tokens: int, positions: list[int], wanted: list[int]
    ) -> None:
        self.document = document
        self.end = end
        self.tokens = tokens
        self.positions = positions  # ascending
        self.wanted = wanted  # the same before they were rounded down, ascending
        self.size_bytes = 0
        self.pins = 0


class EntryCache:
    """A cache of whole entries, the oldest of which leave.

    Parameters
    ----------
    trace
        The requests.
    context
        PromptEntry sizes, costs and capacity.
    placer
        Where an entry's states lie; it is asked about the whole prompt, whatever is resumed from.
    rule
        How many entries are kept.
    order
        Names the pool's eviction policy; it is not asked, since the oldest entry leaves.
    cap
        The largest number of states of an entry; None for any number.
    """

    def __init__(
        self,
        trace: Trace,
        context: CacheContext,
        placer: Placer,
        rule: EntryRule,
        order: EvictionPolicy,
        cap: CapRule | None = None,
    ) -> None:
        self.tree = KvTree(trace.tree, _ignore_split)
        self._pool = Pool("unified", context.capacity_bytes, order)
        self.pools: Mapping[str, Pool] = {"unified": self._pool}
        self.grid = context.grid
        self._rule = rule
        self._placer = placer
        self._cap = cap
        self._chooser = None if cap is None else StateCap(cap, placer, context.grid.step)
        self._kv_bytes = context.sizes.kv_bytes_per_token
        self._state_bytes = context.sizes.state_bytes
        self._leaf = trace.leaf.data
        self._after = None if trace.after is None else trace.after.data
        self._stop = trace.tree.stop.data
        self._parent = trace.tree.parent.data
        self._session, self._label = trace.session.data, trace.label.data
        self._entries: dict[int, deque[PromptEntry]] = {}  # by document, the oldest first
        self._ages: deque[PromptEntry] = deque()  # all, the oldest first
        self._running: dict[int, Running] = {}
        self._used: dict[int, PromptEntry] = {}  # by running request
        self._plans: dict[int, tuple[list[int], list[int]]] = {}  # positions, and as wanted
        placer.begin(
            CacheContext(
                context.sizes,
                context.grid,
                context.costs,
                context.capacity_bytes,
                context.cut,
                trace=trace if placer.clairvoyant else None,
            )
        )

    def admit(self, request: int, now_seconds: float = 0.0) -> Running:
        """Match a prompt against the entries of its document, and pin the one that is used."""
        del now_seconds
        leaf = self.tree.at(self._leaf[request], request)
        entry, shared = self._best_entry(leaf, request)
        matched = self._match(leaf, request, entry, shared)
        end = leaf.stop
        if self._after is not None and self._after[request] >= 0:
            end = self._stop[self._after[request]]
        running = Running(request, self._session[request], self._label[request], matched, end)
        self._running[request] = running
        if entry is not None and matched.resume:
            entry.pins += 1
            self._used[request] = entry
        return running

    def plan(self, running: Running, upto: int) -> None:
        """Ask the placer, once, where the states of the request's entry lie.

        Raises
        ------
        UsageError
            If it returns positions outside the prompt and its answer.
        """
        if running.request in self._plans or self._placer.implicit:
            return
        prefix = self._prefix_of(running)
        wanted = list(self._placer.place(prefix, Window(0, running.end)))
        if wanted and not 1 <= wanted[0] <= wanted[-1] <= running.end:
            name = type(self._placer).__name__
            raise UsageError(f"placer {name} wants {wanted} in a prompt of {running.end} tokens")
        positions: list[int] = []
        for position in wanted:
            on_grid = self.grid.floor(position)
            if on_grid > (positions[-1] if positions else 0):
                positions.append(on_grid)
        if self._chooser is not None and self._cap is not None:
            positions = self._chooser.within(prefix, positions)
        self._plans[running.request] = positions, wanted

    def commit(self, running: Running, upto: int, now_seconds: float) -> None:
        """Store the entry of a request at the end of its prefill, and tell the placer of it."""
        span = running.match.leaf
        if upto > span.stop and self._after is not None:
            span = self.tree.at(self._after[running.request], running.request)
        mark_done(span_holding(span, upto), upto)
        running.computed = upto
        if upto < running.end:
            return
        self._unpin(running)
        self._store(running, span)
        if self._placer.observes:
            depth = running.match.kv_depth
            self._placer.observe(overlap_of(running, depth, span, now_seconds))

    def release(self, running: Running) -> None:
        """Let go of the entry that a request used."""
        self._unpin(running)
        del self._running[running.request]
        self._plans.pop(running.request, None)

    def usage(self) -> Usage:
        """Return the number of stored states, their bytes, and the bytes of KV."""
        pool = self._pool
        return pool.checkpoints, pool.checkpoint_bytes, pool.kv_bytes

    def check(self) -> None:
        """Recount entries, bytes and pins.

        Raises
        ------
        IntegrityError
            If anything differs from the recount, or more entries or states are kept than allowed.
        """
        entries, pool = list(self._ages), self._pool
        states = sum(len(entry.positions) for entry in entries)
        kv_bytes = sum(entry.tokens for entry in entries) * self._kv_bytes
        most = max((len(held) for held in self._entries.values()), default=0)
        most = most if self._rule.per_document else len(entries)
        used = list(self._used.values())
        capped = self._cap is None or all(len(e.positions) <= self._cap.most for e in entries)
        capacity = pool.capacity_bytes
        right = {
            "more entries than are kept": most <= self._rule.most,
            "the entries of documents": sorted(map(id, entries))
            == sorted(id(entry) for held in self._entries.values() for entry in held),
            "the states": (states, states * self._state_bytes)
            == (pool.checkpoints, pool.checkpoint_bytes),
            "the bytes of KV": kv_bytes == pool.kv_bytes,
            "the capacity": capacity is None
            or kv_bytes + states * self._state_bytes == capacity - pool.free_bytes <= capacity,
            "the pins": all(entry.pins == used.count(entry) for entry in entries),
            "the cap on states": capped,
        }
        for what, holds in right.items():
            if not holds:
                raise IntegrityError(f"cache check failed: {what}")

    # --- matching -----------------------------------------------------------------------------

    def _document(self, request: int) -> int:
        """Return the document of a prompt: the node below the root on its path."""
        node = self._leaf[request]
        while self._parent[node] != ROOT:
            node = self._parent[node]
        return node

    def _best_entry(self, leaf: KvSpan, request: int) -> tuple[PromptEntry | None, int]:
        """Return the entry that shares most with a prompt, of equals the oldest, and how much."""
        path: set[KvSpan] = set()
        span = leaf
        while span.stop:
            path.add(span)
            span = span.parent
        best, most = None, 0
        for entry in self._entries.get(self._document(request), ()):
            span = entry.end
            while span.stop > most and span not in path:
                span = span.parent
            if span.stop > most:
                best, most = entry, span.stop
        return best, most

    def _match(self, leaf: KvSpan, request: int, entry: PromptEntry | None, kv_depth: int) -> Match:
        """Return the match with an entry, with the losses of `simulator.cache.match`.

        An entry keeps all states that it was given, so that no state is lost to eviction: what is
        lost between the depth of the entry used and its state was not checkpointed in it.
        """
        length, limit = leaf.stop, leaf.stop - 1
        span = leaf
        while span.request == request:
            span = span.parent
        overlap = span.stop
        while span.done_end == span.start:
            span = span.parent
        done = span.done_end
        while span.kv_admitted_end == span.start:
            span = span.parent
        a0, a1 = min(overlap, limit), min(done, limit)
        a2, a3 = min(span.kv_admitted_end, limit), min(kv_depth, limit)
        alignment = 0
        if self._placer.implicit:
            resume = a3 - a3 % self.grid.alignment
            alignment = a3 - resume
        elif entry is None:
            resume = 0
        else:
            resume = deepest_position(entry.positions, a3)
            wanted = deepest_position(entry.wanted, a3)
            if wanted > resume >= self.grid.floor(wanted):
                alignment = wanted - resume
        return Match(
            leaf,
            overlap,
            done,
            kv_depth,
            resume,
            None,
            self.tree.root,
            length - overlap,
            overlap - a0,
            a0 - a1,
            a1 - a2,
            a2 - a3,
            a3 - resume - alignment,
            alignment,
            0,
        )

    def _prefix_of(self, running: Running) -> Prefix:
        """Return what the placer is told: nothing of the whole prompt has a state yet."""
        matched = running.match
        return Prefix(
            matched.leaf.stop,
            0,
            matched.kv_depth,
            self.grid.step,
            running.session,
            running.label,
            matched.leaf,
            running.end,
            running.request,
        )

    # --- storing ------------------------------------------------------------------------------

    def _unpin(self, running: Running) -> None:
        """Let go of the entry that a request used, if it has not yet."""
        entry = self._used.pop(running.request, None)
        if entry is not None:
            entry.pins -= 1

    def _store(self, running: Running, span: KvSpan) -> None:
        """Store the entry of a request, if there is room for all of it."""
        positions, wanted = self._plans.get(running.request, ([], []))
        document = self._document(running.request)
        entry = PromptEntry(document, span, running.end, positions, wanted)
        kv_bytes, states_bytes = running.end * self._kv_bytes, len(positions) * self._state_bytes
        entry.size_bytes = kv_bytes + states_bytes
        if not self._make_room(entry):
            return
        self._entries[document].append(entry)
        self._ages.append(entry)
        self._pool.take_kv(kv_bytes)
        self._pool.take_checkpoints(len(positions), states_bytes)
        while span.kv_admitted_end < span.stop:
            span.kv_admitted_end = span.stop
            span = span.parent
        for position in positions:
            holder = span_holding(entry.end, position)
            running.written.append(Checkpoint(holder, position, self._state_bytes))

    def _make_room(self, new: PromptEntry) -> bool:
        """Remove the oldest entries until `new` fits; return whether it does.

        Those that running requests use stay.
        """
        pool, rule = self._pool, self._rule
        if new.size_bytes > pool.total_bytes:
            return False
        own = self._entries.setdefault(new.document, deque())
        counted = own if rule.per_document else self._ages
        while len(counted) >= rule.most:
            if not self._remove_oldest(counted):
                return False
        while pool.free_bytes < new.size_bytes:
            if not self._remove_oldest(self._ages):
                return False
        return True

    def _remove_oldest(self, among: deque[PromptEntry]) -> bool:
        """Remove the oldest entry that no running request uses; return False if there is none."""
        entry = next((one for one in among if not one.pins), None)
        if entry is None:
            return False
        self._ages.remove(entry)
        self._entries[entry.document].remove(entry)
        self._pool.give_kv(entry.tokens * self._kv_bytes)
        count = len(entry.positions)
        self._pool.give_checkpoints(count, count * self._state_bytes)
        return True


def _ignore_split(upper: KvSpan, lower: KvSpan) -> None:
    """Do nothing: entries end where spans end, whatever is split above."""
    del upper, lower

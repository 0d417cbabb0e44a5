"""Farthest next use among prefixes, where new entries may be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from policies.eviction.following import Needs
from policies.eviction.prefixed import Scored
from policies.foresight import NEVER, Foresight
from policies.orders.outlook import Outlook
from policies.orders.rank_view import RankView
from policies.placement.feasible import FeasiblePlan
from simulator.plugins.context import SPAN, CacheContext
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class ClairvoyantEviction(Scored):
    """Evict what is used farthest in the future, and refuse what is used later still. Looks ahead.

    Unlike `belady` it evicts nothing for a new entry that is used later. The decision is made page
    by page, so a long span enters in part where the rest would replace what is used sooner. KV
    below other KV leaves first, and of entries that are never used again the youngest does, so
    that what remains is a prefix.

    Where states cost nothing this is the optimum of block caches that keep whole prefixes. A
    state and the KV above it are worth little without each other, which is not considered here:
    so it is no upper bound for a hybrid model.

    Beside the placer `clairvoyant` it follows that placer's plan instead: it evicts what the plan
    does not need, or no longer needs, and refuses what there is no room for then.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966, over a prefix tree.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> prompts = ["aa", "bb", "c", "aaa", "bbb"]
    >>> serve(prompts, eviction="clairvoyant", capacity_bytes=6).saved  # "c" does not enter
    [0, 0, 0, 2, 2]
    >>> serve(prompts, eviction="belady", capacity_bytes=6).saved  # it must take in "c" and "aaa"
    [0, 0, 0, 2, 0]
    """

    clairvoyant: ClassVar[bool] = True
    spares_states: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._needs: Needs | None = None  # of the plan that is followed
        self._foresight: Foresight | None = None
        self._number = -1
        self._end_use = -1  # next use of the deepest span that comes in
        self._incoming: list[KvSpan] = []  # the spans that are not whole yet, deepest first
        self._one_by_one = False
        self._cuts_to_state = False

    def begin(self, context: CacheContext) -> None:
        """Read the trace."""
        super().begin(context)
        self._cuts_to_state = context.orders_kv and context.orders_states and context.cut != SPAN
        if context.trace is not None:
            plan = getattr(context.placer, "plan", None)
            if isinstance(plan, FeasiblePlan):
                self._needs = Needs(plan)
            else:
                self._foresight = Foresight(context.trace)

    def observe(self, overlap: Overlap) -> None:
        """Find the spans that this request adds, and when they are used next."""
        self.request = overlap
        self._number = overlap.request
        if self._needs is not None:
            return
        self._incoming.clear()
        span = overlap.span
        while span is not None and span.kv_end < span.stop:
            self._incoming.append(span)
            span = span.parent
        self._end_use = self._next_use(self._incoming[0]) if self._incoming else -1
        self._one_by_one = self._exceeds_capacity()

    def on_insert(self, entry: Entry) -> None:
        """Look up when it is used next, or until when it is needed."""
        if self._needs is not None:
            self.place(entry, self._needs.until(entry, self._number))
            return
        node = entry.node if isinstance(entry, KvSpan) else entry.span.node
        self.place(entry, (-self._next_use(entry), -node))

    def on_hit(self, entry: Entry) -> None:
        """Look up when it is used next after this."""
        self.on_insert(entry)

    def victim(self) -> Entry | None:
        """Return the evictable entry with the farthest next use; None if the new entry's is.

        With a plan, one that it does not need; None if it needs all.
        """
        if self._needs is not None:
            return self._not_needed(self._needs)
        entry = super().victim()
        if entry is not None and -entry.rank[0] > self._incoming_use():
            return entry
        self._one_by_one = True
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, as long as they are used later than the new entry.

        A span with states comes twice: for the KV behind its last one, and for the rest.
        """
        if self._needs is not None:
            yield from self._none_needed(self._needs)
            return
        one_by_one = self._one_by_one
        incoming_use = self._incoming_use()
        self._one_by_one = one_by_one  # looking ahead changes nothing
        for entry in self._in_order():
            if -entry.rank[0] <= incoming_use:
                return
            yield entry

    def _in_order(self) -> Iterator[Entry]:
        """Yield all entries in the order in which they would leave."""
        outlook = Outlook()
        view = RankView(self._heap, outlook, "policy_data")
        shortened: set[Entry] = set()
        while (entry := view.head()) is not None:
            yield entry
            if entry not in shortened and self._is_shortened(entry, outlook):
                shortened.add(entry)  # only the KV behind its last state has left
            else:
                view.on_evictable(outlook.let_go(entry))

    def _is_shortened(self, entry: Entry, outlook: Outlook) -> bool:
        """Return whether of an entry, a span, at first the KV behind its last state leaves."""
        context = self.context
        if context is None or not self._cuts_to_state or not isinstance(entry, KvSpan):
            return False
        states = outlook.states_of(entry)
        position = states[-1].position if states else 0
        return position > 0 and position + -position % context.sizes.page_tokens < entry.kv_end

    def _not_needed(self, needs: Needs) -> Entry | None:
        """Return an evictable entry that the plan does not need, or of which it needs a part."""
        while (entry := super().victim()) is not None:
            if entry.rank > self._number:
                return None
            until = needs.until(entry, self._number)
            if until <= self._number:
                behind = (
                    needs.state_behind(entry, self._number) if isinstance(entry, KvSpan) else None
                )
                return entry if behind is None else behind
            self.place(entry, until)
        return None

    def _none_needed(self, needs: Needs) -> Iterator[Entry]:
        """Yield what the plan does not need now, in the order in which it leaves."""
        for entry in self._in_order():
            if entry.rank > self._number:
                return
            if needs.until(entry, self._number) <= self._number:
                yield entry

    def _incoming_use(self) -> int:
        """Return when the entry that enters now is used next.

        Room is first asked for all that a request brings: its deepest span is used last. Where
        that is too much, the spans come one by one from the top, each pinned while it grows, and
        each followed by its states.
        """
        incoming = self._incoming
        while len(incoming) > 1 and incoming[-1].kv_end == incoming[-1].stop:
            incoming.pop()
        if not incoming:
            return self._end_use
        span = incoming[-1]
        if span.pins and span.kv_end == span.start:
            self._one_by_one = True
        if not self._one_by_one:
            return self._end_use
        return self._next_use(span if span.pins else span.parent)

    def _exceeds_capacity(self) -> bool:
        """Say whether the spans of the request exceed the capacity and so enter one by one."""
        context = self.context
        if context is None or context.capacity_bytes is None:
            return False
        tokens = sum(span.stop - span.kv_end for span in self._incoming)
        return tokens * context.sizes.kv_bytes_per_token > context.capacity_bytes

    def _next_use(self, entry: Entry) -> int:
        if self._foresight is None:
            return NEVER
        return self._foresight.next_use(entry, self._number)

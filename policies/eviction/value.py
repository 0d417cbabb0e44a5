"""Eviction by expected saving per byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2
from typing import ClassVar

from policies.eviction.prefixed import PrefixEviction
from policies.orders.bare import BareKv, BareView
from policies.orders.groups import Groups
from policies.orders.hazard import Hazard
from policies.orders.life import Life
from policies.orders.lineage import Lineage, takes_kv
from policies.orders.outlook import Outlook
from policies.parameters import require
from simulator.plugins.context import SPAN, CacheContext
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import Overlap

_MOST_USES = 3  # more uses are counted as this many


class ValueEviction(PrefixEviction):
    """Evict what is expected to save the fewest seconds per byte and time.

    A state saves the seconds of prefill from the next state above it to its position, whenever a
    prompt resumes from it. How soon that can be expected is learned from all states, by the time
    since the last use, the number of uses, and whether it is the last of its path: a path is
    likely to be continued at its end, and less so where it was continued already. The bytes are
    its own, and those of the KV that can leave with it if it is the last of its path; KV without
    a state saves nothing. In a pool of KV alone, KV leaves by last use; in one of states alone,
    only their own bytes count.

    States of similar worth (within a factor of `step`) and of one kind are kept by age, and the
    oldest and the youngest of each group are compared: where memory is scarce, a new state may be
    worth less than one that has waited half the time to its next use.

    Parameters
    ----------
    step
        Factor between two groups of worth.

    Source: this project. A price per byte and time solves the allocation of memory to many
    prefixes (docs/placement.md); J. C. Gittins, "Bandit processes and dynamic
    allocation indices", Journal of the Royal Statistical Society B 41(2), 1979, for the index.

    Examples
    --------
    A state and its KV save 8 seconds for 12 bytes in the first prompt, and 4 for 8 in the second:

    >>> from policies.tryout import serve
    >>> serve(["document", "note", "draft"], eviction="value", capacity_bytes=20, state_bytes=4).kv
    ['document', 'draft']
    >>> serve(["document", "note", "draft"], eviction="lru", capacity_bytes=20, state_bytes=4).kv
    ['docu', 'draft', 'note']
    """

    spares_states: ClassVar[bool] = True
    foresees_all: ClassVar[bool] = False

    def __init__(self, step: float = 3.0) -> None:
        super().__init__()
        require(1.1 <= step <= 1000, "step", "1.1 to 1000", step)
        self._step = log2(step)
        self._now = 0
        self._hazard = Hazard(2 * _MOST_USES + 2)
        self._groups = Groups(self._hazard, self._step)
        self._waiting: list[Life] = []  # states to put into groups before the next decision
        self._lineage = Lineage()
        self._bare = BareKv()
        self._kv_bytes = 1
        self._orders_kv = self._orders_states = self._cuts_to_state = True
        self._prefill_seconds: Callable[[int, int], float] = _tokens_of

    def begin(self, context: CacheContext) -> None:
        """Read sizes and costs."""
        super().begin(context)
        self._kv_bytes = context.sizes.kv_bytes_per_token
        self._orders_kv, self._orders_states = context.orders_kv, context.orders_states
        self._bare.all_kv = not context.orders_states
        self._cuts_to_state = context.orders_states and context.cut != SPAN
        self._prefill_seconds = context.costs.prefill_seconds

    def observe(self, overlap: Overlap) -> None:
        """Count the request."""
        self._now += 1
        if self._waiting:  # also here, since `victims` leaves them waiting
            self._settle()

    def on_insert(self, entry: Entry) -> None:
        """Add it; a state is weighed before the next decision."""
        if isinstance(entry, KvSpan):
            if not entry.children_resident:
                self._bare.offer(entry)
            self._note_last(entry.parent)  # the KV that can leave with its last state has changed
            return
        entry.policy_data = life = Life(entry, _ends_path(entry), self._now)
        for changed in self._lineage.add(entry):
            self._note(changed)
        self._waiting.append(life)

    def on_hit(self, entry: Entry) -> None:
        """Learn from the time since its last use, and make it the most recent."""
        if isinstance(entry, KvSpan):
            if not entry.children_resident:
                self._bare.offer(entry)
            return
        life: Life = entry.policy_data
        now = self._now
        self._hazard.note_use(life.kind, now - life.last)
        life.last = now
        life.time = 0  # its old place is outdated
        if life.uses < _MOST_USES:
            life.uses += 1
        life.kind = 2 * life.uses + _ends_path(entry)
        if not life.waits:
            life.waits = True
            self._waiting.append(life)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again."""
        if isinstance(entry, KvSpan):
            self._bare.offer(entry)
            self._note_last(entry)  # its KV can leave with its last state now
            return
        if not entry.policy_data.time:
            self._note(entry)

    def on_evict(self, entry: Entry) -> None:
        """Learn that it was not used, and forget it."""
        if isinstance(entry, KvSpan):
            if entry.policy_data:
                del self._bare.spans[entry.policy_data]
                entry.policy_data = None
            return
        life: Life = entry.policy_data
        entry.policy_data = None
        life.time = 0
        self._hazard.note_end(life.kind, self._now - life.last)
        for changed in self._lineage.remove(entry):
            self._note(changed)
        span = entry.span
        if span.size_bytes and self._orders_kv:
            self._bare.offer(span)
            self._note_last(span)

    def on_states_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Update which state lies next above which."""
        self._lineage.split(upper, lower)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the place of the whole."""
        if self._orders_states:
            self._lineage.split(upper, lower)
        if upper.size_bytes:
            self._bare.split(upper, lower)
            self._note_last(upper)  # other KV leaves with its last state now
            self._note_last(lower)

    def victim(self) -> Entry | None:
        """Return KV that saves nothing, else the state of least expected saving, with its KV."""
        spans = self._bare.spans
        while spans:
            span = next(iter(spans.values()))
            blocked = span.pins or span.children_resident
            if not blocked and self._bare.is_bare(span, span.checkpoints):
                return span
            del spans[span.policy_data]  # in use, or shortened to its last state
            span.policy_data = None
        if self._waiting:
            self._settle()
        least = self._groups.least(self._now)
        return least.span if least is not None and self._takes_kv(least) else least

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order, by their present worth.

        It changes when a state above or below leaves, which is not foreseen.
        """
        outlook = Outlook()
        bare = BareView(self._bare, outlook)
        states = self._groups.in_order(self._weighed(), self._now, outlook.evictable)
        while True:
            span = bare.take()
            if span is not None:
                yield span
                if self._cuts_to_state and outlook.states_of(span):
                    continue  # only the KV behind the last one has left
                bare.offer(outlook.let_go(span))
            elif (state := next(states, None)) is not None:
                entry = outlook.with_kv(state) if self._orders_kv else state
                yield entry
                bare.offer(outlook.let_go(entry))
            else:
                return

    def _note(self, state: Checkpoint) -> None:
        """Weigh a state anew before the next decision, if the policy was told of it."""
        life: Life | None = state.policy_data
        if life is not None and not life.waits:
            life.waits = True
            self._waiting.append(life)

    def _note_last(self, span: KvSpan) -> None:
        """Weigh the last state of a span anew, since the KV that leaves with it has changed."""
        if self._orders_states and span.checkpoints:
            self._note(span.checkpoints[-1])

    def _settle(self) -> None:
        """Put waiting states into the groups of their worth, except those in use."""
        put, now = self._groups.put, self._now
        for life in self._waiting:
            life.waits = False
            entry = life.entry
            if entry.pins:
                life.time = 0
            elif entry.policy_data is life:
                life.steps = self._steps(entry)
                put(life, now)
        self._waiting.clear()

    def _weighed(self) -> Iterator[tuple[Life, int]]:
        """Yield the waiting states, each with the group that it would be put into."""
        for life in self._waiting:
            if life.entry.policy_data is life and not life.entry.pins:
                yield life, self._steps(life.entry)

    def _takes_kv(self, state: Checkpoint) -> bool:
        return self._orders_kv and takes_kv(state)

    def _steps(self, entry: Checkpoint) -> int:
        """Return the seconds per byte of a state, as a power of the step."""
        above, position = self._lineage.above[entry], entry.position
        span, size_bytes = entry.span, entry.size_bytes
        if self._takes_kv(entry):
            start = above if above > span.start else span.start
            size_bytes += (position - start) * self._kv_bytes
        seconds = self._prefill_seconds(above, position)
        return round(log2((seconds or 1e-12) / (size_bytes or 1)) / self._step)


def _tokens_of(start: int, stop: int) -> float:
    """Return the number of tokens, for seconds where no costs are known."""
    return float(stop - start)


def _ends_path(entry: Checkpoint) -> bool:
    """Say whether no other state, nor the KV of another prompt, lies below."""
    span = entry.span
    if span.children_resident:
        return False
    states = span.checkpoints
    return states[-1] is entry if states else False

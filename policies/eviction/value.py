"""Eviction by expected saving per byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2

from policies.eviction.states_first import StatesFirst
from policies.orders.groups import Groups
from policies.orders.hazard import Hazard
from policies.orders.life import Life
from policies.orders.outlook import Outlook
from policies.parameters import require
from policies.worth.worth import in_tokens
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Checkpoint
from simulator.plugins.protocols import Overlap

_MOST_USES = 3  # more uses are counted as this many


class ValueEviction(StatesFirst):
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

    def __init__(self, step: float = 3.0) -> None:
        super().__init__()
        require(1.1 <= step <= 1000, "step", "1.1 to 1000", step)
        self._step = log2(step)
        self._now = 0
        self._hazard = Hazard(2 * _MOST_USES + 2)
        self._groups = Groups(self._hazard, self._step)
        self._waiting: list[Life] = []  # states to put into groups before the next decision
        self._prefill_seconds: Callable[[int, int], float] = in_tokens

    def begin(self, context: CacheContext) -> None:
        """Read sizes and costs."""
        super().begin(context)
        self._prefill_seconds = context.costs.prefill_seconds

    def observe(self, overlap: Overlap) -> None:
        """Count the request."""
        self._now += 1
        if self._waiting:  # also here, since `victims` leaves them waiting
            self._settle()

    def _add(self, state: Checkpoint) -> None:
        state.policy_data = life = Life(state, _ends_path(state), self._now)
        for changed in self._lineage.add(state):
            self._note(changed)
        self._waiting.append(life)

    def _use(self, state: Checkpoint) -> None:
        """Learn from the time since its last use, and make it the most recent."""
        life: Life = state.policy_data
        now = self._now
        self._hazard.note_use(life.kind, now - life.last)
        life.last = now
        life.time = 0  # its old place is outdated
        if life.uses < _MOST_USES:
            life.uses += 1
        life.kind = 2 * life.uses + _ends_path(state)
        if not life.waits:
            life.waits = True
            self._waiting.append(life)

    def _reopen(self, state: Checkpoint) -> None:
        if not state.policy_data.time:
            self._note(state)

    def _forget(self, state: Checkpoint) -> None:
        """Learn that it was not used, and forget it."""
        life: Life = state.policy_data
        state.policy_data = None
        life.time = 0
        self._hazard.note_end(life.kind, self._now - life.last)
        for changed in self._lineage.remove(state):
            self._note(changed)

    def _least(self) -> Checkpoint | None:
        if self._waiting:
            self._settle()
        return self._groups.least(self._now)

    def _in_order(self, outlook: Outlook) -> Iterator[Checkpoint]:
        return self._groups.in_order(self._weighed(), self._now, outlook.evictable)

    def _note(self, state: Checkpoint) -> None:
        life: Life | None = state.policy_data
        if life is not None and not life.waits:
            life.waits = True
            self._waiting.append(life)

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

    def _steps(self, entry: Checkpoint) -> int:
        """Return the seconds per byte of a state, as a power of the step."""
        above, position = self._lineage.above[entry], entry.position
        span, size_bytes = entry.span, entry.size_bytes
        if self._takes_kv(entry):
            start = above if above > span.start else span.start
            size_bytes += (position - start) * self._kv_bytes
        seconds = self._prefill_seconds(above, position)
        return round(log2((seconds or 1e-12) / (size_bytes or 1)) / self._step)


def _ends_path(entry: Checkpoint) -> bool:
    """Say whether no other state, nor the KV of another prompt, lies below."""
    span = entry.span
    if span.children_resident:
        return False
    states = span.checkpoints
    return states[-1] is entry if states else False

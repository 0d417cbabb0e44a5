"""Inner states of a span, by the loss if they are dropped."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heapify, heappop, heappush, heapreplace
from operator import attrgetter
from typing import Final

from simulator.plugins.entries import Checkpoint, Entry, KvSpan

NEVER: Final = float("inf")
_position = attrgetter("position")
_Place = tuple[float, int, Checkpoint]  # a lower bound of its loss, less its position, the state


class InnerStates:
    """Finds the state of least loss per byte between the first and the last state of a span.

    The losses depend on these states alone, so each span keeps its own heap, which may hold
    thousands. As others leave, the loss of a state grows, which is noticed when it comes to the
    top. After an insertion the heap is made anew.
    """

    def __init__(self) -> None:
        self._heaps: dict[KvSpan, list[_Place]] = {}
        self._counts: dict[KvSpan, int] = {}  # states of a span, if none was inserted

    def note_gone(self, entry: Entry) -> None:
        """Note that a state or a span has left."""
        if isinstance(entry, KvSpan):
            self._forget(entry)
        elif entry.span in self._counts:
            self._counts[entry.span] -= 1

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Note a split of a span: the part with more states keeps the heap."""
        heap, count = self._forget(lower)
        above, below = len(upper.checkpoints), len(lower.checkpoints)
        if count == above + below:
            larger = upper if above > below else lower
            self._heaps[larger], self._counts[larger] = heap, max(above, below)

    def least(self, span: KvSpan, states: Sequence[Checkpoint]) -> tuple[float, Entry]:
        """Return the least loss among the inner ones of `states`, all of a span, and its state.

        Of equal losses that is the deepest. Where none is evictable, the loss is NEVER.
        """
        last = len(states) - 1
        if last < 2:
            return NEVER, span
        if self._counts.get(span) != len(states):
            self._make(span, states)
        heap, blocked = self._heaps[span], []
        least: tuple[float, Entry] = NEVER, span
        while heap and least[0] == NEVER:
            loss, order, state = heap[0]
            index = bisect_left(states, state.position, key=_position)
            if not 0 < index < last or states[index] is not state:
                heappop(heap)
            elif (now := _loss_at(states, index)) != loss:
                heapreplace(heap, (now, order, state))
            elif state.evictable:
                least = loss, state
            else:
                blocked.append(heappop(heap))
        for place in blocked:
            heappush(heap, place)
        return least

    def _make(self, span: KvSpan, states: Sequence[Checkpoint]) -> None:
        inner = range(1, len(states) - 1)
        heap = [(_loss_at(states, at), -states[at].position, states[at]) for at in inner]
        heapify(heap)
        self._heaps[span], self._counts[span] = heap, len(states)

    def _forget(self, span: KvSpan) -> tuple[list[_Place], int]:
        return self._heaps.pop(span, []), self._counts.pop(span, -1)


def loss_between(above: int, state: Checkpoint, below: int) -> float:
    """Return the loss of a state per byte: tokens saved, summed over depths to the next state."""
    position = state.position
    return (position - above) * (below - position) / max(state.size_bytes, 1)


def _loss_at(states: Sequence[Checkpoint], index: int) -> float:
    return loss_between(states[index - 1].position, states[index], states[index + 1].position)

"""Inner states of a span, by how closely they lie between two others."""

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
    """Finds the state of a span that covers least per byte, of those between its first and last.

    They depend on each other alone, so that spans which hold thousands keep theirs in a heap. As
    others leave, a state covers more: that is noticed when it comes to the top. Where one has
    come in, the heap is made anew.
    """

    def __init__(self) -> None:
        self._heaps: dict[KvSpan, list[_Place]] = {}
        self._counts: dict[KvSpan, int] = {}  # how many states a span has left if none came in

    def note_gone(self, entry: Entry) -> None:
        """Note that a state or a span has left."""
        if isinstance(entry, KvSpan):
            self._forget(entry)
        elif entry.span in self._counts:
            self._counts[entry.span] -= 1

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Note that a span has been split: the part with more states has the heap from now on."""
        heap, count = self._forget(lower)
        above, below = len(upper.checkpoints), len(lower.checkpoints)
        if count == above + below:
            larger = upper if above > below else lower
            self._heaps[larger], self._counts[larger] = heap, max(above, below)

    def least(self, span: KvSpan, states: Sequence[Checkpoint]) -> tuple[float, Entry]:
        """Return the least loss among the inner ones of `states`, all of a span, and whose it is.

        That is the deepest of several. Where none can go, the loss is NEVER.
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
    """Return the tokens that a state saves for all depths to the next one below, per byte."""
    position = state.position
    return (position - above) * (below - position) / max(state.size_bytes, 1)


def _loss_at(states: Sequence[Checkpoint], index: int) -> float:
    return loss_between(states[index - 1].position, states[index], states[index + 1].position)

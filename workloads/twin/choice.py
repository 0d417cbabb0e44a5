"""Order of a twin's requests: which of the next rows best fits the prompts so far.

Rows (the drawn properties of requests) are independent of each other, but successive requests in a
real trace are not: questions about one document follow each other, and conversations continue. The
order among rows that are due at about the same time is free, so it is chosen to restore this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workloads.twin.growth import GrowingPrompts
from workloads.twin.meetings import END, INSIDE
from workloads.twin.places import MeetingPlace, Places, Wanted

BLOCK = 64  # rows that are due together
TRIES = 3  # rows for which a place in the tree is searched
NEXT = 2  # of these, rows that seem to continue the last request
GOOD = 0.3  # cost below which the search stops


class PlaceChoice:
    """Requests still to be generated, handed out in the order that best fits the tree so far.

    Parameters
    ----------
    wanted
        The overlap that each row should have, None for no overlap.
    places, growth
        The places and prompts so far.
    scale_tokens
        Differences between distances far below this do not matter.
    """

    def __init__(
        self,
        wanted: Sequence[Wanted | None],
        places: Places,
        growth: GrowingPrompts,
        scale_tokens: float,
    ) -> None:
        self._places = places
        self._growth = growth
        warm = [(row, one) for row, one in enumerate(wanted) if one is not None]
        self._rows = [row for row, _ in warm]
        self._wanted = [one for _, one in warm]
        self._far = np.log2([one.distance / scale_tokens + 1 for one in self._wanted])
        self._reach = np.log2([one.depth + one.beyond for one in self._wanted])
        self._of_end = np.array([one.meeting in {END, INSIDE} for one in self._wanted])
        self._begun = 0
        self._left: list[int] = []

    def next(self) -> tuple[int, MeetingPlace]:
        """Return the next row, and the place in the tree where its overlap ends."""
        if not self._left:
            stop = min(self._begun + BLOCK, len(self._rows))
            self._left = list(range(self._begun, stop))
            self._begun = stop
        best, chosen = MeetingPlace(), self._left[0]
        for at in self._first():
            place = self._places.find(self._wanted[at], best.cost)
            if place.cost < best.cost:
                best, chosen = place, at
            if best.cost < GOOD:
                break
        self._left.remove(chosen)
        return self._rows[chosen], best

    def _first(self) -> list[int]:
        """Return the rows to try: those that best continue the last request, then the oldest."""
        growth, left = self._growth, np.array(self._left)
        if len(left) <= TRIES or not growth.reach:
            return self._left[:TRIES]
        reach, overlap = np.log2([growth.reach[-1] + 1, growth.overlap[-1] + 1])
        off = abs(self._reach[left] - np.where(self._of_end[left], reach, overlap))
        cost = self._far[left] + off
        order = np.argsort(cost, kind="stable")[:NEXT]
        near: list[int] = left[order[cost[order] < 1]].tolist()
        return [*near, *(at for at in self._left[:TRIES] if at not in near)][:TRIES]

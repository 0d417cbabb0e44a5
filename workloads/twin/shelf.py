"""Places in order of last use."""

from __future__ import annotations

from bisect import bisect_left, insort

from simulator.trace.prefix_tree import ROOT
from workloads.twin.growth import GrowingPrompts

NEIGHBOURS = 4  # looked at on each side


class Shelf:
    """Places, each the request that passed it last and its node, in order of these requests.

    The node of the end of a request is `ROOT`: such an end leaves the shelf when a later request
    passes it, while a node moves up. Both happen when the place is looked at, so that a request
    costs what it looks at and not what it passes.

    Parameters
    ----------
    growth
        Who passed which node.
    """

    def __init__(self, growth: GrowingPrompts) -> None:
        self._growth = growth
        self._places: list[tuple[int, int]] = []

    def add(self, request: int, node: int = ROOT) -> None:
        """Take in a node, or the end of a request."""
        insort(self._places, (request, node))

    def near(self, request: int) -> list[tuple[int, int]]:
        """Return the places that were passed last next to a request, a few on each side."""
        places = self._places
        low = high = at = bisect_left(places, (request, -1))
        while high < len(places) and high - at < NEIGHBOURS:
            high += not self._moves(high)
        while low > 0 and at - low < NEIGHBOURS:
            low -= 1
            if self._moves(low):
                at, high = at - 1, high - 1
        return places[low:high]

    def _moves(self, at: int) -> bool:
        """Bring a place up to date; say whether it has left its position."""
        growth, (request, node) = self._growth, self._places[at]
        if node == ROOT:
            stays = growth.exposed[request] < growth.reach[request]
        else:
            stays = growth.owner[node] == request
        if not stays:
            del self._places[at]
            if node != ROOT:
                self.add(growth.owner[node], node)
        return not stays

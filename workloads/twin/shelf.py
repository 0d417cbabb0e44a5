"""Places of a twin, where overlaps may end, in order of last use."""

from __future__ import annotations

from bisect import bisect_left, insort

from simulator.trace.prefix_tree import ROOT
from workloads.twin.growth import GrowingPrompts

NEIGHBOURS = 4  # places returned on each side


class Shelf:
    """Places in order of last use, each as the last request that used it and its node.

    The end of a request has the node `ROOT`. It is removed once a later request has used its
    tokens; another node moves to the position of its new last user. Both happen only when the place
    is looked at, so that adding a request does not require updating all places on its path.

    Parameters
    ----------
    growth
        The prompts so far, with the last user of each node.
    """

    def __init__(self, growth: GrowingPrompts) -> None:
        self._growth = growth
        self._places: list[tuple[int, int]] = []

    def add(self, request: int, node: int = ROOT) -> None:
        """Add a node, or the end of a request."""
        insort(self._places, (request, node))

    def near(self, request: int) -> list[tuple[int, int]]:
        """Return a few places on each side of a request, in the order of their last users."""
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
        """Bring a place up to date; return whether it has left its position."""
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

"""Search for the place in a twin's prefix tree where a new request's overlap ends.

The overlap's properties are drawn at random; the place that differs least from the draw is chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log2

from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import NO_SESSION
from workloads.twin.growth import GrowingPrompts
from workloads.twin.meetings import BRANCH, END, INSIDE, OLD_END
from workloads.twin.shelf import Shelf

BUCKETS_PER_OCTAVE = 4
DEPTH_WEIGHT = 2.0  # relative to a doubling of the distance
OWN_WEIGHT = 0.5
FRESH_WEIGHT = 0.3
OTHER_PLACE = 0.5  # cost of another kind of place than drawn
CUT = {END: 2.0, OLD_END: 1.0, BRANCH: 1.0, INSIDE: 1.0}  # cost of splitting a run instead
NO_CONVERSATION = 4.0  # cost of continuing a request without a session
MOST_CUTS = 256  # requests tried on each side of the distance as the one to split
FARTHEST = 20 * BUCKETS_PER_OCTAVE


@dataclass(frozen=True, slots=True)
class Wanted:
    """The properties drawn for the overlap of a request, as in `Meetings`.

    `in_session` is whether its source must be in a session.
    """

    meeting: int
    distance: int
    depth: int
    own: int
    fresh: int
    beyond: int
    in_session: bool = False


@dataclass(frozen=True, slots=True)
class MeetingPlace:
    """A place on the path of a request, and its cost: how much it differs from the draw."""

    cost: float = inf
    request: int = -1
    position: int = 0


class Places:
    """The places of a twin's prefix tree, in buckets of depth, each in order of last use.

    A place is a position in the tree where the overlap of a later request may end.

    Parameters
    ----------
    growth
        The prompts so far; `note` must be called after each that is added.
    scale_tokens
        Differences between distances far below this do not matter.
    """

    def __init__(self, growth: GrowingPrompts, scale_tokens: float) -> None:
        self._growth = growth
        self._scale = scale_tokens
        self._ends: defaultdict[int, Shelf] = defaultdict(lambda: Shelf(growth))
        self._nodes: defaultdict[int, Shelf] = defaultdict(lambda: Shelf(growth))

    def note(self, branched: int) -> None:
        """Register the places that the last request adds; it diverged after node `branched`."""
        growth = self._growth
        if branched and growth.children[branched] == 2 and not growth.ended[branched]:
            self._list(branched)
        if growth.reach[-1]:
            self._ends[_bucket(growth.reach[-1])].add(len(growth.reach) - 1)
        for end in {growth.leaf[-1], growth.after[-1]}:
            self._note_end(end)

    def _note_end(self, node: int) -> None:
        growth = self._growth
        position = growth.stop[node] - growth.stop[node] % growth.granularity
        while growth.start[node] >= position > 0:
            node = growth.parent[node]
        if position and growth.stop[node] == position:
            self._end_at(node)

    def _end_at(self, node: int) -> None:
        growth = self._growth
        if not growth.ended[node]:
            growth.ended[node] = True
            if growth.children[node] < 2:  # else it is listed as a branch
                self._list(node)

    def _list(self, node: int) -> None:
        growth = self._growth
        self._nodes[_bucket(growth.stop[node])].add(growth.owner[node], node)

    def find(self, wanted: Wanted, bound: float = inf) -> MeetingPlace:
        """Return the place that differs least from the draw, with a cost below `bound` if any."""
        near = self._growth.recency.request_at(wanted.distance)
        best = self._search(wanted, near, MeetingPlace(bound))
        if best.cost > CUT[wanted.meeting]:
            best = self._cut(wanted, near, best)
        return best if best.request >= 0 else MeetingPlace()

    def take(self, place: MeetingPlace, new_tokens: int) -> int:
        """Return the node of a place, splitting a run if the place is inside it.

        If nothing follows (`new_tokens` is 0), the place at a request's end is the end of its whole
        prompt.
        """
        growth, position = self._growth, place.position
        at_end = position == growth.reach[place.request]
        if at_end and not new_tokens:
            position = growth.end[place.request]
        node = growth.node_at(place.request, position)
        if at_end:
            self._end_at(node)
        return node

    def _search(self, wanted: Wanted, near: int, best: MeetingPlace) -> MeetingPlace:
        """Search buckets of depth, nearest first, until a farther one cannot be better."""
        middle = _bucket(wanted.depth + (wanted.beyond if wanted.meeting == INSIDE else 0))
        for off in range(FARTHEST):
            if DEPTH_WEIGHT * (off - 1) / BUCKETS_PER_OCTAVE >= best.cost:
                break
            for bucket in {middle + off, middle - off}:
                for request, position, node in self._near(wanted, bucket, near):
                    cost = self._cost(wanted, request, position, node, best.cost)
                    if cost < best.cost:
                        best = MeetingPlace(cost, request, position)
        return best

    def _near(self, wanted: Wanted, bucket: int, near: int) -> Iterator[tuple[int, int, int]]:
        """Yield candidate places: a request near the distance, a position, and a node or `ROOT`."""
        growth = self._growth
        if wanted.meeting in {END, INSIDE} and bucket in self._ends:
            share = wanted.depth / (wanted.depth + wanted.beyond)
            for request, _ in self._ends[bucket].near(near):
                position = growth.reach[request]
                if wanted.meeting == INSIDE:
                    position = _on_grid(position * share, growth.granularity)
                if growth.exposed[request] < position <= growth.reach[request]:
                    yield request, position, ROOT
        if wanted.meeting != INSIDE and bucket in self._nodes:
            for request, node in self._nodes[bucket].near(near):
                yield request, growth.stop[node], node

    def _cut(self, wanted: Wanted, near: int, best: MeetingPlace) -> MeetingPlace:
        """Return a place of the wanted depth on the path of the nearest request that allows it."""
        growth, position = self._growth, wanted.depth
        for off in range(MOST_CUTS):
            for request in (near + off, near - off - 1):
                inside = 0 <= request < len(growth.reach)
                if inside and growth.exposed[request] < position <= growth.reach[request]:
                    cost = self._unlike(wanted, request, position) + CUT[wanted.meeting]
                    cost += self._less_far(wanted, request)
                    return MeetingPlace(cost, request, position) if cost < best.cost else best
        return best

    def _cost(self, wanted: Wanted, request: int, position: int, node: int, most: float) -> float:
        """Return the cost of a place: its differences from the draw, measured in doublings.

        `node` is `ROOT` inside a run. The distance is slow to compute, so it is added only if the
        rest costs less than `most`.
        """
        cost = self._unlike(wanted, request, position)
        if node != ROOT:
            cost += self._otherwise(wanted.meeting, request, node)
        elif cost < most:
            cost += FRESH_WEIGHT * self._less_fresh(wanted, request, position)
        return cost + self._less_far(wanted, request) if cost < most else inf

    def _unlike(self, wanted: Wanted, request: int, position: int) -> float:
        """Return the cost of differing in depth, in the part used last, and in the session."""
        growth = self._growth
        unit = position / 16 + growth.granularity
        own = position - growth.exposed[request]
        cost = DEPTH_WEIGHT * abs(log2(position / wanted.depth))
        cost += OWN_WEIGHT * abs(log2((own + unit) / (wanted.own + unit)))
        if wanted.in_session and growth.session[request] == NO_SESSION:
            cost += NO_CONVERSATION
        return cost

    def _less_fresh(self, wanted: Wanted, request: int, position: int) -> float:
        growth = self._growth
        unit = position / 16 + growth.granularity
        shared = max(growth.exposed[request], growth.overlap[request])
        return abs(log2((max(0, position - shared) + unit) / (wanted.fresh + unit)))

    def _less_far(self, wanted: Wanted, request: int) -> float:
        since = self._growth.recency.since(request)
        return abs(log2((since + self._scale) / (wanted.distance + self._scale)))

    def _otherwise(self, wanted: int, request: int, node: int) -> float:
        """Return the cost of a node that is of another kind of place than drawn."""
        growth = self._growth
        if growth.stop[node] == growth.reach[request]:
            return OTHER_PLACE * (wanted != END)
        return OTHER_PLACE * (wanted != (OLD_END if growth.ended[node] else BRANCH))


def _bucket(depth: int) -> int:
    return int(log2(depth) * BUCKETS_PER_OCTAVE)


def _on_grid(position: float, granularity: int) -> int:
    return max(1, round(position / granularity)) * granularity

"""Where the overlap of a twin's request ends: the place most like the one that was drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log2

from simulator.trace import NO_SESSION
from workloads.twin.growth import Growth
from workloads.twin.meetings import BRANCH, END, INSIDE, OLD_END

BUCKETS_PER_OCTAVE = 4
FRESH_WEIGHT = 0.3  # against a doubling of depth or distance
OTHER_PLACE = 0.5  # what it costs to take another prompt's end for the source's
CUT = {END: 2.0, OLD_END: 1.0, BRANCH: 1.0, INSIDE: 1.0}  # and to cut a run for lack of a place
NO_CONVERSATION = 4.0  # to go on with a request that is in no session
NEIGHBOURS = 5  # looked at on each side of the distance, in each bucket
MOST_PLACES = 64  # looked at in a bucket
FARTHEST = 20 * BUCKETS_PER_OCTAVE


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was drawn; columns as in `Meetings`, and whether the source must be in a session."""

    meeting: int
    distance: int
    depth: int
    fresh: int
    beyond: int
    in_session: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A place: a position on the path of a request, and how unlike the wanted one it is."""

    cost: float = inf
    request: int = -1
    position: int = 0


class Places:
    """The places of a twin so far, in buckets of depth.

    Parameters
    ----------
    growth
        The prompts; `note` is told of each that is added.
    scale_tokens
        Distances far below this are alike.
    """

    def __init__(self, growth: Growth, scale_tokens: float) -> None:
        self._growth = growth
        self._scale = scale_tokens
        self._ends: defaultdict[int, list[int]] = defaultdict(list)  # requests, by their reach
        self._old_ends: defaultdict[int, list[int]] = defaultdict(list)  # nodes
        self._branches: defaultdict[int, list[int]] = defaultdict(list)

    def note(self, branched: int) -> None:
        """Take in the ends of the last request, which diverged behind the node `branched`."""
        growth = self._growth
        if branched and growth.children[branched] == 2 and not growth.ended[branched]:
            self._branches[_bucket(growth.stop[branched])].append(branched)
        if growth.reach[-1]:
            self._ends[_bucket(growth.reach[-1])].append(len(growth.reach) - 1)
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
        if not self._growth.ended[node]:
            self._growth.ended[node] = True
            self._old_ends[_bucket(self._growth.stop[node])].append(node)

    def take(self, wanted: Wanted, new_tokens: int) -> tuple[int, int]:
        """Return the source and the node of the best place, -1 and the root where there is none.

        Where nothing follows (`new_tokens` is 0), an end is that of the whole prompt.
        """
        found = self._find(wanted)
        if found.request < 0:
            return -1, 0
        position = found.position
        at_end = position == self._growth.reach[found.request]
        if at_end and not new_tokens:
            position = self._growth.end[found.request]
        node = self._growth.node_at(found.request, position)
        if at_end:
            self._end_at(node)
        return found.request, node

    def _find(self, wanted: Wanted) -> Found:
        near = self._growth.recency.request_at(wanted.distance)
        best = self._search(wanted, wanted.meeting, near)
        if wanted.meeting == END and best.cost > OTHER_PLACE:
            best = _better(best, self._search(wanted, OLD_END, near), OTHER_PLACE)
        penalty = CUT[wanted.meeting]
        return _better(best, self._cut(wanted, near), penalty) if best.cost > penalty else best

    def _search(self, wanted: Wanted, meeting: int, near: int) -> Found:
        """Look at buckets of depth, nearest first, until a farther one cannot be better."""
        middle = _bucket(wanted.depth + (wanted.beyond if meeting == INSIDE else 0))
        best = Found()
        for off in range(FARTHEST):
            if (off - 1) / BUCKETS_PER_OCTAVE >= best.cost:
                break
            for bucket in {middle + off, middle - off}:
                for found in self._candidates(wanted, meeting, near, bucket):
                    if found.cost < best.cost:
                        best = found
        return best

    def _candidates(self, wanted: Wanted, meeting: int, near: int, bucket: int) -> Iterator[Found]:
        if meeting in {END, INSIDE}:
            return self._on_paths(wanted, meeting, near, bucket)
        return self._at_nodes(wanted, meeting, bucket)

    def _on_paths(self, wanted: Wanted, meeting: int, near: int, bucket: int) -> Iterator[Found]:
        """Yield ends of requests, or positions inside them, those near the distance."""
        growth, requests = self._growth, self._ends.get(bucket)
        if not requests:
            return
        share = wanted.depth / (wanted.depth + wanted.beyond) if meeting == INSIDE else 1.0
        at = bisect_left(requests, near)
        for side in (range(at, len(requests)), range(at - 1, -1, -1)):
            left = NEIGHBOURS
            for index in side:
                request = requests[index]
                position = growth.reach[request]
                if meeting == INSIDE:
                    position = _on_grid(position * share, growth.granularity)
                    if position >= growth.reach[request]:
                        continue
                if growth.exposed[request] < position:
                    yield Found(
                        self._cost(wanted, request, position, fresh=True), request, position
                    )
                    left -= 1
                    if not left:
                        break

    def _at_nodes(self, wanted: Wanted, meeting: int, bucket: int) -> Iterator[Found]:
        growth = self._growth
        nodes = (self._old_ends if meeting == OLD_END else self._branches).get(bucket, [])
        for node in nodes[-MOST_PLACES:]:
            if meeting == OLD_END or not growth.ended[node]:
                request, position = growth.owner[node], growth.stop[node]
                yield Found(self._cost(wanted, request, position), request, position)

    def _cut(self, wanted: Wanted, near: int) -> Found:
        """Return the wanted depth on the path of the nearest request that used it last."""
        growth, position = self._growth, wanted.depth
        for off in range(len(growth.reach)):
            for request in (near + off, near - off - 1):
                inside = 0 <= request < len(growth.reach)
                if inside and growth.exposed[request] < position <= growth.reach[request]:
                    return Found(self._cost(wanted, request, position), request, position)
        return Found()

    def _cost(self, wanted: Wanted, request: int, position: int, *, fresh: bool = False) -> float:
        """Return how unlike a place is, in doublings."""
        growth, scale = self._growth, self._scale
        since = growth.recency.since(request)
        cost = abs(log2((since + scale) / (wanted.distance + scale)))
        cost += abs(log2(position / wanted.depth))
        if wanted.in_session and growth.session[request] == NO_SESSION:
            cost += NO_CONVERSATION
        if fresh:
            unit = position / 16 + growth.granularity
            shared = max(growth.exposed[request], growth.overlap[request])
            found = max(0, position - shared)
            cost += FRESH_WEIGHT * abs(log2((found + unit) / (wanted.fresh + unit)))
        return cost


def _better(best: Found, other: Found, penalty: float) -> Found:
    cost = other.cost + penalty
    return best if best.cost <= cost else Found(cost, other.request, other.position)


def _bucket(depth: int) -> int:
    return int(log2(depth) * BUCKETS_PER_OCTAVE)


def _on_grid(position: float, granularity: int) -> int:
    return max(1, round(position / granularity)) * granularity

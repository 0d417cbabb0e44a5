"""The candidate with the least weighted sum of recency and worth."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from policies.orders.shortlist import KnownState, Recency, Scored, Shortlist

_NO_AGE = np.iinfo(np.int64).max
_FIRST = 32  # nodes in the first batch that is sorted
Scales = tuple[float, float]


class Candidates:
    """Finds the node of least score: recency + worth, each scaled so that its range is its weight.

    The ranges, and so all scores, change a little with each node that comes or leaves. So all are
    scored only now and then, and a shortlist keeps those that may be the least. Where too many
    are tied for a shortlist, all are scored.

    Parameters
    ----------
    recency
        Recency of a last use by request `last`, seen from request `now`, of numbers or arrays: not
        negative, growing with `last`, and not growing with `now`.
    """

    def __init__(self, recency: Recency) -> None:
        self._recency = recency
        self._nodes: list[KnownState] = []  # by place, as their last uses, worths and ages
        self._last, self._worth, self._age = array("d"), array("d"), array("q")
        self._lasts: list[int] = []  # of all that count, ascending
        self._worths: list[float] = []  # of all that count, ascending
        self._ends = (-1, 0, 0)  # a request, and the first and last of the last uses
        self._span = 0.0  # of recency between those, seen from that request
        self._near = Shortlist(recency)
        self._tied = False  # too many ties: even a new shortlist could not decide

    def open(self, node: KnownState) -> None:
        """Make a node a candidate, or one again that was set aside."""
        if node.place >= 0:
            return
        last, worth = node.last, node.worth
        if not node.counts:
            node.counts = True
            insort(self._lasts, last)
            insort(self._worths, worth)
        node.place = len(self._nodes)
        self._nodes.append(node)
        self._last.append(last)
        self._worth.append(worth)
        self._age.append(node.age)
        self._near.open(node)

    def close(self, node: KnownState) -> None:
        """Remove a node from the candidates."""
        if not node.counts:
            return
        node.counts = False
        if node.place >= 0:
            self.set_aside(node)
        lasts, worths = self._lasts, self._worths
        del lasts[bisect_left(lasts, node.last)]
        del worths[bisect_left(worths, node.worth)]

    def set_aside(self, node: KnownState) -> None:
        """Leave a candidate out of the search; it still counts for the scales."""
        self._near.close(node)
        place, node.place = node.place, -1
        mover = self._nodes.pop()
        last, worth, age = self._last.pop(), self._worth.pop(), self._age.pop()
        if mover is not node:
            self._nodes[place], mover.place = mover, place
            self._last[place], self._worth[place], self._age[place] = last, worth, age

    def use(self, node: KnownState, now: int) -> None:
        """Note a use of a node by request `now`, the latest so far."""
        before, node.last = node.last, now
        if node.counts:
            lasts = self._lasts
            del lasts[bisect_left(lasts, before)]
            lasts.append(now)
        if node.place >= 0:
            self._last[node.place] = now
            self._near.close(node)
            self._near.open(node)

    def price(self, node: KnownState, worth: float) -> None:
        """Set the worth of a node, 0 or more."""
        before, node.worth = node.worth, worth
        if not node.counts or worth == before:
            return
        worths = self._worths
        del worths[bisect_left(worths, before)]
        insort(worths, worth)
        if node.place >= 0:
            self._worth[node.place] = worth
            self._near.close(node)
            self._near.open(node)

    def least(self, now: int, recency_weight: float, worth_weight: float) -> KnownState | None:
        """Return the node of least score, the eldest among equals; None if there is none."""
        if not self._nodes:
            return None
        near, scales = self._near, self._scales(now, recency_weight, worth_weight)
        if now > near.until:
            self._renew(now, scales)
            self._tied = False
        least = None if self._tied else near.least(now, scales)
        if least is None and not self._tied:
            self._renew(now, scales)
            least = near.least(now, scales)
            self._tied = least is None
        return least or self._least_of_all(now, scales)

    def score_of(
        self, node: KnownState, now: int, recency_weight: float, worth_weight: float
    ) -> float:
        """Return the score of a node, which need not be a candidate, on the scales of these."""
        by_recency, by_worth = self._scales(now, recency_weight, worth_weight)
        return node.worth * by_worth + float(self._recency(node.last, now)) * by_recency

    def by_score(self, now: int, recency_weight: float, worth_weight: float) -> Iterator[Scored]:
        """Yield the score, the age and the node of all candidates, by score and age.

        They are sorted lazily. Nothing may change meanwhile.
        """
        scores = self._scores(now, self._scales(now, recency_weight, worth_weight))
        left, most = np.arange(len(scores)), _FIRST
        while len(left):
            last = scores[left].max()
            if len(left) > most:
                last = np.partition(scores[left], most)[most]
            chosen = left[scores[left] <= last]
            places = zip(scores[chosen].tolist(), chosen.tolist(), strict=True)
            yield from sorted((score, self._age[at], self._nodes[at]) for score, at in places)
            left, most = left[scores[left] > last], 4 * most

    def _scales(self, now: int, recency_weight: float, worth_weight: float) -> Scales:
        """Return the factors of recency and worth, 0 where all are equal."""
        lasts, worths = self._lasts, self._worths
        if not lasts:
            return 0.0, 0.0
        ends = now, lasts[0], lasts[-1]
        if ends != self._ends:
            self._ends = ends
            self._span = self._recency(lasts[-1], now) - self._recency(lasts[0], now)
        span = worths[-1] - worths[0]
        return (
            recency_weight / self._span if self._span > 0 else 0.0,
            worth_weight / span if span > 0 else 0.0,
        )

    def _renew(self, now: int, scales: Scales) -> None:
        # Copies: an array cannot grow while a view of it is alive, and a profiler or debugger that
        # keeps frames keeps their locals alive.
        last, worth = np.array(self._last), np.array(self._worth)
        self._near.renew(self._nodes, last, worth, self._lasts[0], now, scales)

    def _least_of_all(self, now: int, scales: Scales) -> KnownState:
        scores = self._scores(now, scales)
        age = np.array(self._age)
        return self._nodes[int(np.argmin(np.where(scores == scores.min(), age, _NO_AGE)))]

    def _scores(self, now: int, scales: Scales) -> NDArray[np.float64]:
        by_recency, by_worth = scales
        last, worth = np.array(self._last), np.array(self._worth)
        scores: NDArray[np.float64] = worth * by_worth + self._recency(last, now) * by_recency
        return scores


class Merged:
    """Nodes by score; others may be added while nodes are taken.

    Parameters
    ----------
    coming
        Nodes with their scores and ages, by both.
    """

    def __init__(self, coming: Iterator[Scored]) -> None:
        self._coming = coming
        self._next = next(coming, None)
        self._put: list[Scored] = []  # a heap

    def put(self, scored: Scored) -> None:
        """Add a node."""
        heappush(self._put, scored)

    def take(self) -> KnownState | None:
        """Take out the node of least score, None if there is none."""
        if self._put and (self._next is None or self._put[0] < self._next):
            return heappop(self._put)[2]
        taken = self._next
        self._next = next(self._coming, None)
        return None if taken is None else taken[2]

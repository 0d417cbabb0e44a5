"""A shortlist of the nodes of least score, under scales that change slowly."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.plugins.entries import Checkpoint

Recency = Callable[[Any, int], Any]

_LENGTH = 24
_STEPS = 24  # nodes examined before the list is made anew
_REQUESTS = 16  # for which a list is valid
_INFINITY, _TINY = float("inf"), 1e-300


class KnownState:
    """A state with its last use, its worth, its age and its place among the candidates (-1: none).

    `counts` says whether it is included in the ranges by which scores are scaled; `estimate` is
    the lower bound of its score by which the shortlist is ordered.
    """

    __slots__ = ("age", "counts", "entry", "estimate", "last", "place", "worth")

    def __init__(self, entry: Checkpoint, last: int, age: int) -> None:
        self.entry = entry
        self.last = last
        self.age = age
        self.place = -1
        self.counts = False
        self.worth = 0.0
        self.estimate = _INFINITY


Scored = tuple[float, int, KnownState]  # (an estimate of) its score, its age


class Shortlist:
    """Keeps the nodes of least score in the order of estimates that are lower bounds.

    An estimate holds until the list is made anew: recency is taken as of the request at which the
    list expires; a node that is new, used or priced anew is estimated at that time; and where the
    scales have changed, all estimates shrink at most by the factor of the scale that shrank most.
    True scores are computed in this order until the next bound exceeds the least of them, so the
    result is exact.

    Parameters
    ----------
    recency
        Recency of a last use by request `last`, seen from request `now`, of numbers or arrays: not
        negative, growing with `last`, and not growing with `now`.
    """

    def __init__(self, recency: Recency) -> None:
        self.until = -1  # the request with which it expires
        self._recency = recency
        self._near: list[Scored] = []  # estimate, age, node
        self._beyond = _INFINITY  # a lower bound of the estimates of nodes not listed
        self._scales = (0.0, 0.0)  # of recency and of worth, for estimates
        self._oldest = 0  # the last use from which estimates count recency
        self._origin = 0.0  # the recency of that use when they expire

    def open(self, node: KnownState) -> None:
        """Add a new node, if its estimate is low enough."""
        last = node.last
        if not self._oldest <= last <= self.until:
            self.until = -1  # expired, or the estimates do not count from low enough
            return
        by_recency, by_worth = self._scales
        above = self._recency(last, self.until) - self._origin
        node.estimate = estimate = above * by_recency + node.worth * by_worth
        if estimate < self._beyond:
            insort(self._near, (estimate, node.age, node))

    def close(self, node: KnownState) -> None:
        """Remove a node, if it is listed."""
        if node.estimate <= self._beyond:
            near = self._near
            place = bisect_left(near, (node.estimate, node.age))
            if place < len(near) and near[place][2] is node:
                del near[place]

    def renew(
        self,
        nodes: Sequence[KnownState],
        last: NDArray[np.float64],
        worth: NDArray[np.float64],
        oldest: int,
        now: int,
        scales: tuple[float, float],
    ) -> None:
        """Make the list of `nodes`, given their last uses, the least of these, and their worths."""
        self.until = now + _REQUESTS
        self._scales, self._oldest = scales, oldest
        self._origin = self._recency(oldest, self.until)
        estimates = (self._recency(last, self.until) - self._origin) * scales[0]
        estimates += worth * scales[1]
        self._beyond = _INFINITY
        listed = np.arange(len(nodes))
        if len(nodes) > _LENGTH:
            listed = np.argpartition(estimates, _LENGTH)
            self._beyond = float(estimates[listed[_LENGTH]])
            listed = listed[:_LENGTH]
        self._near = near = []
        for estimate, place in zip(estimates[listed].tolist(), listed.tolist(), strict=True):
            node = nodes[place]
            node.estimate = estimate
            near.append((estimate, node.age, node))
        near.sort()

    def least(self, now: int, scales: tuple[float, float]) -> KnownState | None:
        """Return the node of least score, the eldest of equals; None if the list cannot tell."""
        near, recency = self._near, self._recency
        by_recency, by_worth = scales
        before_recency, before_worth = self._scales
        shrinks = by_recency / before_recency if before_recency else _INFINITY
        if by_worth < shrinks * before_worth:
            shrinks = by_worth / before_worth
        shrinks = shrinks or _TINY
        origin = self._origin * by_recency
        origin -= 1e-9 * (1.0 + abs(origin))  # an allowance for rounding
        best, least = None, _INFINITY
        limit = _INFINITY  # no estimate beyond this is that of a lesser score
        for estimate, age, node in islice(near, _STEPS):
            if estimate > limit:
                return best
            score = node.worth * by_worth
            if score > least:  # whatever its recency
                continue
            score += recency(node.last, now) * by_recency
            if score < least or (score == least and best is not None and age < best.age):
                least, best = score, node
                limit = (score - origin) / shrinks
        beyond = near[_STEPS][0] if len(near) > _STEPS else self._beyond
        return best if beyond > limit else None

"""The nodes of least score under scales that change a little all the time."""

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
_STEPS = 24  # nodes looked at before it is made anew
_REQUESTS = 16  # it holds for so many
_INFINITY, _TINY = float("inf"), 1e-300


class KnownState:
    """What is known of a state: its last use, its worth, its age and its place (-1: none).

    `counts` says whether the ranges by which scores are scaled take it in, `estimate` is that of
    its score by which it stands on the shortlist, if it does.
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

    An estimate holds until the list is made anew: recency is estimated as it will be when the list
    expires; what comes, is used or becomes worth less is estimated when it does; and other scales
    shrink no sum by more than the one that shrinks most. The true scores are looked at in this
    order until the next bound exceeds the least of them, so the result is exact.

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
        self._beyond = _INFINITY  # no estimate of a node that is not on it is less
        self._scales = (0.0, 0.0)  # of recency and of worth, for estimates
        self._oldest = 0  # the last use from which they count
        self._origin = 0.0  # its recency when they expire

    def open(self, node: KnownState) -> None:
        """Take in a node that has come, if it belongs here."""
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
        """Take a node off, if it is here."""
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
        """Make it of all `nodes`, given their last uses, the least of them, and their worths."""
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
        """Return the node of least score, the eldest among equals, or None where it cannot tell."""
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

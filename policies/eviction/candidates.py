"""The candidate with the least weighted sum of recency and worth, without scoring all each time."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from simulator.entry import Entry

Recency = Callable[[Any, int], Any]

_LENGTH = 48  # nodes on the shortlist
_STEPS = 24  # of them looked at before it is made anew
_REQUESTS = 8  # it holds for so many
_NO_AGE = np.iinfo(np.int64).max


class Node:
    """What is known of an entry: its last use, its worth, its age and its place (-1: none)."""

    __slots__ = ("age", "entry", "last", "place", "worth")

    def __init__(self, entry: Entry, last: int, age: int) -> None:
        self.entry = entry
        self.last = last
        self.age = age
        self.place = -1
        self.worth = 0.0


class Candidates:
    """Finds the node of least score: recency + worth, each scaled so that its range is its weight.

    The ranges, and so all scores, change with each node that comes or leaves, but hardly. So all
    are scored only now and then, and a shortlist keeps those of least score in the order of
    estimates. Until it is made anew an estimate stays a lower bound: uses only make a node more
    recent; recency is estimated as it will be when the list expires; what comes or becomes worth
    less is estimated when it does; and other scales shrink no sum by more than the one that shrinks
    most. The true scores are looked at in this order until the next bound exceeds the
    least of them, so the result is exact. Where too many are tied for that, all are scored.

    Parameters
    ----------
    recency
        Recency of a last use by request `last`, seen from request `now`, of numbers or arrays. It
        grows with `last`, and does not grow with `now`.
    """

    def __init__(self, recency: Recency) -> None:
        self._recency = recency
        self._nodes: list[Node] = []  # by place, as their last uses, worths and ages
        self._last, self._worth, self._age = array("d"), array("d"), array("q")
        self._lasts: list[int] = []  # the same in ascending order
        self._worths: list[float] = []
        self._near: list[tuple[float, int, Node]] = []  # the shortlist: estimate, serial, node
        self._serial = count()
        self._beyond = 0.0  # no estimate of a node that is not on it is less
        self._made = self._until = -1  # requests at which it was made, and expires
        self._scales = (0.0, 0.0)  # of recency and of worth, for estimates
        self._origin = (0.0, 0.0)  # where they count from
        self._oldest = 0
        self._tied = False  # it could not tell even when it was new

    def open(self, node: Node) -> None:
        """Make a node a candidate."""
        if node.place >= 0:
            return
        node.place = len(self._nodes)
        last, worth = node.last, node.worth
        self._nodes.append(node)
        self._last.append(last)
        self._worth.append(worth)
        self._age.append(node.age)
        insort(self._lasts, last)
        insort(self._worths, worth)
        if self._until >= 0:
            self._enlist(node)

    def close(self, node: Node) -> None:
        """Make a node no candidate."""
        place = node.place
        if place < 0:
            return
        node.place = -1
        mover = self._nodes.pop()
        last, worth, age = self._last.pop(), self._worth.pop(), self._age.pop()
        if mover is not node:
            self._nodes[place], mover.place = mover, place
            self._last[place], self._worth[place], self._age[place] = last, worth, age
        lasts, worths = self._lasts, self._worths
        del lasts[bisect_left(lasts, node.last)]
        del worths[bisect_left(worths, node.worth)]

    def use(self, node: Node, now: int) -> None:
        """Note that a node is used by request `now`, which comes after all others."""
        if node.place >= 0:
            lasts = self._lasts
            del lasts[bisect_left(lasts, node.last)]
            lasts.append(now)
            self._last[node.place] = now
        node.last = now

    def price(self, node: Node, worth: float) -> None:
        """Note what a node is worth."""
        before, node.worth = node.worth, worth
        if node.place >= 0 and worth != before:
            worths = self._worths
            del worths[bisect_left(worths, before)]
            insort(worths, worth)
            self._worth[node.place] = worth
            if worth < before and self._until >= 0:
                self._enlist(node)

    def least(self, now: int, recency_weight: float, worth_weight: float) -> Node | None:
        """Return the node of least score, the eldest among equals; None if there is none."""
        lasts, worths, recency = self._lasts, self._worths, self._recency
        if not lasts:
            return None
        span = recency(lasts[-1], now) - recency(lasts[0], now)
        by_recency = recency_weight / span if span > 0 else 0.0
        span = worths[-1] - worths[0]
        by_worth = worth_weight / span if span > 0 else 0.0
        weights = now, by_recency, by_worth
        current = now <= self._until
        if current and self._tied:
            return self._score_all(*weights)
        found = self._walk(*weights) if current else None
        if found is None:
            self._renew(*weights)
            found = self._walk(*weights)
            self._tied = found is None
        return self._score_all(*weights) if found is None else found

    def _enlist(self, node: Node) -> None:
        """Put a node on the shortlist, if it belongs there."""
        if not self._oldest <= node.last <= self._until or node.worth < self._origin[1]:
            self._until = -1  # expired, or the estimates do not count from low enough
            return
        estimate = self._estimate(node)
        if estimate < self._beyond:
            insort(self._near, (estimate, next(self._serial), node))

    def _estimate(self, node: Node) -> float:
        by_recency, by_worth = self._scales
        recency, worth = self._origin
        above: float = self._recency(node.last, self._until) - recency
        return above * by_recency + (node.worth - worth) * by_worth

    def _walk(self, now: int, by_recency: float, by_worth: float) -> Node | None:
        """Return the node of least score, or None where the shortlist cannot tell."""
        near, recency, made = self._near, self._recency, self._made
        shrinks = self._shrinkage(by_recency, by_worth)
        origin = self._origin[0] * by_recency + self._origin[1] * by_worth
        origin -= 1e-9 * (1.0 + abs(origin))  # an allowance for rounding
        least, best, place = float("inf"), None, 0
        while place < len(near):
            estimate, serial, node = near[place]
            if best is not None and shrinks * estimate > least - origin:
                return best
            if node.place < 0:
                del near[place]
                continue
            if node.last > made and (fresh := self._estimate(node)) > estimate:
                del near[place]
                if fresh < self._beyond:  # else it is like those that are not on the list
                    insort(near, (fresh, serial, node))
                continue
            score = node.worth * by_worth + recency(node.last, now) * by_recency
            if best is None or score < least or (score == least and node.age < best.age):
                least, best = score, node
            place += 1
            if place == _STEPS:
                return None
        known = self._beyond == float("inf") or shrinks * self._beyond > least - origin
        return best if known else None

    def _shrinkage(self, by_recency: float, by_worth: float) -> float:
        """Return by what a sum is multiplied at least when it is scaled so."""
        before_recency, before_worth = self._scales
        recency = by_recency / before_recency if before_recency else 1.0
        worth = by_worth / before_worth if before_worth else recency
        return recency if before_recency and recency < worth else worth

    def _renew(self, now: int, by_recency: float, by_worth: float) -> None:
        """Make the shortlist."""
        nodes, last, worth = self._nodes, np.frombuffer(self._last), np.frombuffer(self._worth)
        self._made, self._until = now, now + _REQUESTS
        self._scales, self._oldest = (by_recency, by_worth), self._lasts[0]
        self._origin = origin = (self._recency(self._oldest, self._until), self._worths[0])
        estimates = (self._recency(last, self._until) - origin[0]) * by_recency
        estimates += (worth - origin[1]) * by_worth
        self._beyond = float("inf")
        if len(nodes) > _LENGTH:
            listed = np.argpartition(estimates, _LENGTH)
            self._beyond = float(estimates[listed[_LENGTH]])
            listed = listed[:_LENGTH]
        else:
            listed = np.arange(len(nodes))
        self._near = sorted(
            (estimate, next(self._serial), nodes[place])
            for estimate, place in zip(estimates[listed].tolist(), listed.tolist(), strict=True)
        )

    def _score_all(self, now: int, by_recency: float, by_worth: float) -> Node:
        """Return the node of least score by looking at all."""
        last, worth = np.frombuffer(self._last), np.frombuffer(self._worth)
        scores = worth * by_worth + self._recency(last, now) * by_recency
        age = np.frombuffer(self._age, dtype=np.int64)
        return self._nodes[int(np.argmin(np.where(scores == scores.min(), age, _NO_AGE)))]

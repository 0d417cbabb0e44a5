"""The best single checkpoint in a segment, by the distances at which earlier segments were left.

A segment `(start, stop]` of n tokens is given one checkpoint at x. It saves x - start if the
segment is left at x or later, else nothing: the staircase of one step. With c(x) of N distances
serving x, the best x maximises (x - start) c(x) / N. All that depends on the distances
alone is computed in advance, so that most queries are one binary search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

import numpy as np

NOTHING = (0, 0.0)


class SingleLaw(Protocol):
    """A law of distances that gives the best single checkpoint."""

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best x within `(start, stop)` and c(x) / N; (0, 0.0) where there is none.

        Of equal ones, that with the shortest distance.
        """
        ...


class EndDistances:
    """Distances from the end of the segment: a checkpoint at delta serves those up to delta.

    It saves (n - delta) c(delta): lines in n of ever greater slope c, whose upper envelope is
    kept. Each is best from `bounds` on, where it passes the one before.

    Parameters
    ----------
    distances
        Whole numbers.
    """

    def __init__(self, distances: Sequence[int]) -> None:
        self._total = len(distances)
        self._bounds: list[float] = []
        self._lines: list[tuple[int, int]] = []  # delta, c(delta)
        for count, delta in enumerate(sorted(distances), 1):
            self._push(delta, count)

    def _push(self, delta: int, count: int) -> None:
        bounds, lines = self._bounds, self._lines
        bound = float(delta)  # the first line: it saves something where n > delta
        while lines:
            other, less = lines[-1]
            # Whole numbers, so rounding moves no bound across one.
            bound = (delta * count - other * less) / (count - less)
            if delta > other and bound > bounds[-1]:
                break
            bounds.pop()
            lines.pop()
            bound = float(delta)
        bounds.append(bound)
        lines.append((delta, count))

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best x and its share."""
        i = bisect_left(self._bounds, stop - start) - 1
        if i < 0:
            return NOTHING
        delta, count = self._lines[i]
        return stop - delta, count / self._total


class FromBranch:
    """Distances from the start of the segment: a checkpoint at delta serves those from delta on.

    It saves delta c(delta), whatever n: the best so far below n.

    Parameters
    ----------
    distances
        Whole numbers.
    total
        N; not less than there are distances.
    """

    def __init__(self, distances: Sequence[int], total: int) -> None:
        self._records: list[int] = []
        self._shares: list[float] = []
        most = 0
        for left, delta in zip(range(len(distances), 0, -1), sorted(distances), strict=True):
            if delta * left > most:
                most = delta * left
                self._records.append(delta)
                self._shares.append(left / total)

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best x and its share."""
        i = bisect_left(self._records, stop - start) - 1
        return (start + self._records[i], self._shares[i]) if i >= 0 else NOTHING


class FromStart:
    """Depths from the start of the prompt: a checkpoint at x serves those from x on.

    Parameters
    ----------
    depths
        Whole numbers.
    total
        N; not less than there are depths.
    """

    def __init__(self, depths: Sequence[int], total: int) -> None:
        self._depths = np.array(sorted(depths), np.int64)
        self._shares = np.arange(len(depths), 0, -1) / total

    def best(self, start: int, stop: int) -> tuple[int, float]:
        """Return the best x and its share."""
        inside = slice(*self._depths.searchsorted((start + 1, stop)).tolist())
        depths, shares = self._depths[inside], self._shares[inside]
        if not len(depths):
            return NOTHING
        at = int(((depths - start) * shares).argmax())
        return depths.item(at), shares.item(at)

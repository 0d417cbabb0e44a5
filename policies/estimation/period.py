"""Overlaps with decaying weights, and those of the same phase of earlier periods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from policies.estimation.cells import cells, log_score, near
from policies.estimation.contest import Contest
from policies.estimation.decay import Decay

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

BLOCK = 20  # requests, which are taken as of one time
MOST = 256  # blocks to remember; when there are as many, the first quarter is forgotten
CELLS = 2048  # cells of 1 %: depths up to e**20
REACH = 3  # blocks before and after a phase that count with it,
NEARNESS = 0.98  # less by this factor for each request between
PERIODS = 6  # earlier periods that count
SHORTEST = REACH + 1  # the shortest lag, in blocks: all that counts with a phase must be past
FADE, ERRORS, LEAST = 0.985, 2.5, 12.0  # of the contest


class Period(Decay):
    """Weigh overlaps as `decay` does; where traffic comes in periods, add those of this phase.

    Every 20 requests, each lag from 80 requests to half of what is remembered (5,120 requests) is
    scored by how probable the depths of these requests are under its law: that of `decay`, and the
    overlaps around the times one, two, up to six lags before, on both sides of each. So the law of
    a phase is known before it begins. The score is the logarithm of the probability, in cells of
    1 %. The lag with the greatest mean score is used if its lead over the law of `decay`, or of all
    requests where that has predicted better, exceeds two and a half standard errors on requests
    that it had not learned from; otherwise the law is that of `decay`.

    Parameters
    ----------
    factor
        As of `decay`.

    Source: none; prequential choice between lags: Dawid 1984, Statistical theory: the prequential
    approach.

    Examples
    --------
    Two hundred requests of 800 tokens follow two hundred of 300, again and again. When 800 is due
    in ten requests, it weighs a third of all; in the law of `decay` it has been forgotten since:

    >>> from policies.tryout import learned
    >>> depths = ([300] * 200 + [800] * 200) * 5 + [300] * 190
    >>> {depth: round(weight) for depth, weight in learned("period", depths).items()}
    {300: 328, 800: 154}
    >>> {depth: round(weight) for depth, weight in learned("decay", depths).items()}
    {300: 87, 800: 13}
    """

    def __init__(self, factor: float = 0.99) -> None:
        super().__init__(factor)
        self._block: list[int] = []
        self._counts: list[Counter[int]] = []  # of each block, by depth
        self._cells = np.zeros((MOST, CELLS))  # the same by cell, misses left out
        self._recent = np.zeros(CELLS)  # by cell, decayed
        self._references = np.zeros(2)  # faded scores of the laws of `decay` and of all requests
        self._contest = Contest(MOST // 2 + 1, FADE, ERRORS, LEAST)
        self._lag = 0

    @property
    def period_requests(self) -> int:
        """The period that is used, in requests; 0 where none is beyond chance."""
        return self._lag * BLOCK

    def _take(self, depth: int) -> None:
        super()._take(depth)
        self._block.append(depth)
        if len(self._block) == BLOCK:
            self._close(np.array(self._block, np.int64))
            self._block.clear()

    def _weights(self) -> Mapping[int, float]:
        weights = dict(super()._weights())
        if self._lag:
            blocks = len(self._counts)
            for phase in range(blocks - self._lag, -1, -self._lag)[:PERIODS]:
                for at in range(max(0, phase - REACH), phase + REACH + 1):
                    share = NEARNESS ** (BLOCK * abs(at - phase))
                    for depth, count in self._counts[at].items():
                        weights[depth] = weights.get(depth, 0.0) + count * share
        return weights

    def _close(self, block: Int64) -> None:
        """Score the lags by a block, and remember it."""
        at = np.minimum(cells(np.log(block[block > 0])) + 1, CELLS - 2)
        if len(at) and len(self._counts) >= 2 * SHORTEST:
            self._score(at)
        if len(self._counts) == MOST:
            self._forget()
        counts = np.bincount(at, minlength=CELLS)
        self._cells[len(self._counts)] = counts
        self._counts.append(Counter(block.tolist()))
        self._recent = self._recent * self._factor**BLOCK + counts

    def _forget(self) -> None:
        oldest = MOST // 4
        self._cells[:-oldest] = self._cells[oldest:]
        del self._counts[:oldest]

    def _score(self, at: Int64) -> None:
        blocks = len(self._counts)
        past = self._cells[:blocks]
        # the last column is the weight of all cells, so that shares follow from one sum
        by_block = np.column_stack((near(past, at), past.sum(axis=1)))
        recent = np.append(near(self._recent, at), self._recent.sum())
        lags = np.arange(SHORTEST, blocks // 2 + 1)
        laws = recent + _at_phases(by_block, lags)
        references = _log_scores(np.stack((recent, by_block.sum(axis=0))))
        leads = np.zeros(MOST // 2 + 1)
        leads[lags] = _log_scores(laws) - references[self._references.argmax()]
        self._references = FADE * self._references + references
        self._contest.score(leads)
        self._lag = self._contest.winner() or 0


def _at_phases(by_block: Float64, lags: Int64) -> Float64:
    """Return for each lag the sum around its multiples before the next block, (lags, columns)."""
    blocks = len(by_block)
    around = np.zeros_like(by_block)
    for shift in range(-REACH, REACH + 1):
        low, high = max(0, -shift), min(blocks, blocks - shift)
        around[low:high] += NEARNESS ** (BLOCK * abs(shift)) * by_block[low + shift : high + shift]
    phases = blocks - lags[:, None] * np.arange(1, PERIODS + 1)
    sums: Float64 = np.where((phases >= 0)[..., None], around[np.maximum(phases, 0)], 0.0).sum(
        axis=1
    )
    return sums


def _log_scores(laws: Float64) -> Float64:
    """Return the score of each law, whose last column is its weight."""
    return log_score(laws[:, :-1] / np.maximum(laws[:, -1:], 1e-12))

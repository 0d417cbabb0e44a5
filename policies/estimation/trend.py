"""Overlaps with decaying weights, carried along the trend of their depths."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
from numpy.typing import NDArray

from policies.estimation.cells import cells, log_score, near
from policies.estimation.contest import Contest
from policies.estimation.decay import Decay

Float64 = NDArray[np.float64]

MEMORY = 6.0  # remembered requests, in units of 1 / (1 - factor): e**-6 of the weight lies beyond
FEWEST, MOST = 100, 6000  # bounds of the remembered requests
BLOCK = 50  # requests between two scores
# Growth within 1 / (1 - factor) requests: from 0.4 % to 12 %, each 1.3 times the one before.
GROWTHS = 0.004 * 1.3 ** np.arange(14)
FADE, ERRORS, LEAST = 0.95, 3.0, 5.0  # of the contest: with 28 rates, chance exceeds 2 errors often


class Trend(Decay):
    """Weigh overlaps as `decay` does, and carry their depths on where these grow or shrink.

    Where prompts grow by a rate r a request, an overlap of depth d of n requests ago stands for one
    of d e^(rn) now, so that the law does not lag behind the boundary that it follows. Every 50
    requests, 28 rates and none are scored by how probable the depths of these requests are under
    the law of those before, carried to their time (the logarithm of the probability, in cells of
    1 %). The rate with the greatest mean score is used if its lead over no trend, on requests that
    it had not learned from, exceeds three standard errors; otherwise the law is that of `decay`.

    Parameters
    ----------
    factor
        As of `decay`. Six times 1 / (1 - factor) requests are remembered, from 100 to 6,000.

    Source: none; prequential choice between rates: Dawid 1984, Statistical theory: the prequential
    approach.

    Examples
    --------
    Depths grow by 0.1 % a request, up to 1,819 tokens. All that count are carried there:

    >>> from policies.tryout import learned
    >>> depths = [int(1000 * 1.001**n) for n in range(600)]
    >>> law = learned("trend:factor=0.95", depths)
    >>> min(law), max(law)
    (1811, 1819)
    >>> law = learned("decay:factor=0.95", depths)
    >>> min(law), max(law)
    (1215, 1819)
    """

    def __init__(self, factor: float = 0.99) -> None:
        super().__init__(factor)
        memory = min(max(ceil(MEMORY / (1 - factor)), FEWEST), MOST) if factor < 1 else MOST
        self._memory = memory
        self._depths = np.zeros(2 * (memory + BLOCK))  # a queue, moved to the front when full
        self._end = 0
        self._requests = 0
        rates = GROWTHS * (1 - factor)
        self._rates = np.concatenate(([0.0], rates, -rates))
        self._contest = Contest(len(self._rates), FADE, ERRORS, LEAST)
        self._rate = 0.0

    @property
    def rate(self) -> float:
        """The relative growth of depths a request that is used; 0 where none is beyond chance."""
        return self._rate

    def _take(self, depth: int) -> None:
        super()._take(depth)
        if self._end == len(self._depths):
            kept = self._memory + BLOCK
            self._depths[:kept] = self._depths[-kept:]
            self._end = kept
        self._depths[self._end] = depth
        self._end += 1
        self._requests += 1
        if self._requests % BLOCK == 0:
            self._score()

    def _weights(self) -> Mapping[int, float]:
        plain = super()._weights()
        if not self._rate:
            return plain
        depths, ages = self._last(self._end)
        carried = np.maximum(1, depths * np.exp(self._rate * ages)).astype(np.int64)
        support, place = np.unique(carried, return_inverse=True)
        weights = np.bincount(place, weights=self._factor**ages)
        return dict(zip(support.tolist(), weights.tolist(), strict=True)) | {0: plain.get(0, 0.0)}

    def _last(self, end: int) -> tuple[Float64, Float64]:
        """Return depths and ages, in requests, of the remembered overlaps before an index."""
        depths = self._depths[max(0, end - self._memory) : end]
        ages = np.arange(len(depths) - 1.0, -1.0, -1.0)
        hit = depths > 0
        return depths[hit], ages[hit]

    def _score(self) -> None:
        """Score each rate by the last block, which the law is carried to from those before it."""
        new = self._depths[self._end - BLOCK : self._end]
        depths, ages = self._last(self._end - BLOCK)
        if len(depths) < BLOCK or not new.any():
            return
        ages += 1 + BLOCK / 2
        weights = self._factor**ages
        carried = np.log(depths) + self._rates[:, None] * ages
        scores = _scores(carried, weights / weights.sum(), np.log(new[new > 0]))
        self._contest.score(scores - scores[0])
        winner = self._contest.winner()
        self._rate = 0.0 if winner is None else float(self._rates[winner])


def _scores(predicted: Float64, weights: Float64, observed: Float64) -> Float64:
    """Return the log-probability of observed depths under each of several samples, (samples,).

    Parameters
    ----------
    predicted
        Logarithms of depths, shape (samples, n).
    weights
        Their shares, the same in each sample, shape (n,).
    observed
        Logarithms of depths, shape (m,).
    """
    predicted_cells, at = cells(predicted), cells(observed)
    low = min(int(predicted_cells.min()), int(at.min())) - 1
    width = max(int(predicted_cells.max()), int(at.max())) + 2 - low
    samples = len(predicted_cells)
    flat = predicted_cells - low + np.arange(samples)[:, None] * width
    spread = np.broadcast_to(weights, predicted_cells.shape)
    shares = np.bincount(flat.ravel(), weights=spread.ravel(), minlength=samples * width)
    return log_score(near(shares.astype(np.float64).reshape(samples, width), at - low))

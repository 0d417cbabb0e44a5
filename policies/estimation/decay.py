"""Overlaps with exponentially decaying weights."""

from __future__ import annotations

from collections.abc import Mapping

from policies.estimation.base import CountingEstimator
from policies.parameters import require

FORGOTTEN = 1e-9  # a weight below this, against 1 for the newest overlap, is dropped
RESCALE = 1e12


class Decay(CountingEstimator):
    """Weigh the overlap of `n` requests ago by `factor ** n`.

    Memory is bounded: weights below 1e-9 are dropped now and then.

    Parameters
    ----------
    factor
        Above 0, at most 0.9999. The effective sample size tends to (1 + factor) / (1 - factor);
        where the law drifts by `delta` a request, the bias is delta / (1 - factor).

    Source: none; exponential smoothing of counts.

    Examples
    --------
    >>> from policies.tryout import learned
    >>> learned("decay:factor=0.5", [8, 4, 4, 0])  # 1/8 for the first; 1/4 + 1/2; 1 for the last
    {0: 1.0, 4: 0.75, 8: 0.125}
    """

    def __init__(self, factor: float = 0.99) -> None:
        require(0 < factor <= 0.9999, "factor", "above 0 and at most 0.9999", factor)
        super().__init__()
        self._factor = factor
        self._raw: dict[int, float] = {}  # weights times `_unit`, so that old ones stay as they are
        self._unit = factor
        self._sum = 0.0
        self._sum_of_squares = 0.0

    @property
    def effective_samples(self) -> float:
        """Effective sample size of the weights; 0 before the first overlap."""
        return self._sum**2 / self._sum_of_squares if self._sum else 0.0

    def _take(self, depth: int) -> None:
        self._unit /= self._factor
        if self._unit > RESCALE:
            self._raw = self._decayed()
            self._unit = 1.0
        self._raw[depth] = self._raw.get(depth, 0.0) + self._unit
        self._sum = self._sum * self._factor + 1
        self._sum_of_squares = self._sum_of_squares * self._factor**2 + 1

    def _weights(self) -> Mapping[int, float]:
        return self._decayed()

    def _decayed(self) -> dict[int, float]:
        floor = FORGOTTEN * self._unit
        return {depth: raw / self._unit for depth, raw in self._raw.items() if raw >= floor}

"""The overlaps of the first requests alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from policies.estimation.base import CountingEstimator
from policies.parameters import require
from simulator.plugins.protocols import Overlap


class Frozen(CountingEstimator):
    """Count the overlaps of the first `train` requests, and keep that law.

    Parameters
    ----------
    train
        Requests to learn from, 1 to 1,000,000.

    Source: arXiv 2605.05219, whose plans are made once, from a training set.

    Examples
    --------
    >>> from policies.tryout import learned
    >>> learned("frozen:train=2", [8, 4, 4, 0])  # the first two
    {4: 1.0, 8: 1.0}
    """

    def __init__(self, train: int = 100) -> None:
        require(1 <= train <= 1_000_000, "train", "1 to 1000000", train)
        super().__init__()
        self._left = train
        self._counts: Counter[int] = Counter()

    @property
    def effective_samples(self) -> float:
        """Requests learned from so far."""
        return self._counts.total()

    def observe(self, overlap: Overlap) -> None:
        """Take one more observation, unless enough were taken."""
        if self._left:
            super().observe(overlap)

    def _take(self, depth: int) -> None:
        self._left -= 1
        self._counts[depth] += 1

    def _weights(self) -> Mapping[int, float]:
        return self._counts

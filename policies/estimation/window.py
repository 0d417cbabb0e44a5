"""The overlaps of the most recent requests."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping

from policies.estimation.base import CountingEstimator
from policies.parameters import require


class WindowEstimator(CountingEstimator):
    """Count the overlaps of the last `requests` requests, misses included.

    Parameters
    ----------
    requests
        Length of the window, 1 to 1,000,000. Where the law drifts by `delta` (total variation)
        a request, its error is about sqrt(S / W) / 2 + delta (W + 1) / 2 for S distinct depths.

    Source: none; the empirical law of a moving window.

    Examples
    --------
    >>> from policies.tryout import learned
    >>> learned("window:requests=3", [8, 4, 4, 0])  # weights by depth; the first is forgotten
    {0: 1.0, 4: 2.0}
    """

    def __init__(self, requests: int = 100) -> None:
        require(1 <= requests <= 1_000_000, "requests", "1 to 1000000", requests)
        super().__init__()
        self._last: deque[int] = deque(maxlen=requests)
        self._counts: Counter[int] = Counter()

    @property
    def effective_samples(self) -> float:
        """Requests in the window."""
        return len(self._last)

    def _take(self, depth: int) -> None:
        if len(self._last) == self._last.maxlen:
            oldest = self._last[0]
            self._counts[oldest] -= 1
            if not self._counts[oldest]:
                del self._counts[oldest]
        self._last.append(depth)
        self._counts[depth] += 1

    def _weights(self) -> Mapping[int, float]:
        return self._counts

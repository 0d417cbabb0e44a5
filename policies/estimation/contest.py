"""A contest of rival predictions with a reference, by scores on what came after them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Contest:
    """Says which rival has been better than a reference, beyond chance.

    Each score is a lead: the score of a rival less that of the reference on the same data, which
    neither had seen. Recent leads count more, and the standard error of their mean is that of
    independent leads with these weights.

    Parameters
    ----------
    rivals
        Number of rivals.
    fade
        Weight of a lead relative to the next one, above 0 and below 1.
    errors
        Standard errors by which the mean lead of a winner must exceed 0.
    least
        Effective number of leads before a rival may win.
    """

    def __init__(self, rivals: int, fade: float, errors: float, least: float) -> None:
        self._fade = fade
        self._errors = errors
        self._least = least
        self._sum = np.zeros(rivals)
        self._squares = np.zeros(rivals)
        self._weight = 0.0
        self._weight_squares = 0.0

    def score(self, leads: NDArray[np.float64]) -> None:
        """Take the next lead of each rival, shape (rivals,)."""
        fade = self._fade
        self._sum = fade * self._sum + leads
        self._squares = fade * self._squares + leads**2
        self._weight = fade * self._weight + 1
        self._weight_squares = fade**2 * self._weight_squares + 1

    def winner(self) -> int | None:
        """Return the rival with the greatest mean lead, if that is no chance; else None."""
        if not self._weight:
            return None
        samples = self._weight**2 / self._weight_squares
        if samples < self._least:
            return None
        means = self._sum / self._weight
        best = int(means.argmax())
        mean = float(means[best])
        variance = max(0.0, float(self._squares[best]) / self._weight - mean**2)
        error = (variance / (samples - 1)) ** 0.5
        return best if mean > self._errors * error else None

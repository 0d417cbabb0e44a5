"""Numbers made of parts (blocks of time, sessions, ...) that can be drawn again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
QUANTILE_RESAMPLES = 400  # an error needs few, and each is a pass over all requests
_CHUNK = 250_000  # weights at a time, few enough for a processor's cache


class Statistic(Protocol):
    """A number made of parts (blocks of time, sessions, ...) that can be drawn again."""

    @property
    def parts(self) -> int:
        """How many there are."""
        ...

    @property
    def value(self) -> float:
        """The number with every part taken once."""
        ...

    @property
    def even_parts(self) -> float:
        """How many parts of one size would tell as much as these."""
        ...

    @property
    def resamples(self) -> int:
        """How often to draw."""
        ...

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number for each row of `weights` (resamples, parts); NaN where undefined."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of sums over parts, such as saved tokens over prompt tokens.

    Both are float64 of shape (parts,).
    """

    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.numerator)

    @property
    def value(self) -> float:
        """Ratio of the two sums; NaN where the denominator is zero."""
        return float(self.resampled(np.ones((1, len(self.numerator))))[0])

    @property
    def even_parts(self) -> float:
        """Kish's effective number of parts, by their shares of the denominator."""
        return _effective(self.denominator)

    @property
    def resamples(self) -> int:
        """RESAMPLES: a product of matrices."""
        return RESAMPLES

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of the weighted sums for each row of `weights` (resamples, parts)."""
        below = weights @ self.denominator
        ratios = np.full(len(weights), np.nan)
        np.divide(weights @ self.numerator, below, out=ratios, where=below > 0)
        return ratios


@dataclass(frozen=True, slots=True, eq=False)
class Quantile:
    """A quantile of values that lie in parts.

    Parameters
    ----------
    values
        float64 of shape (values,), ascending.
    part
        int64 of the same shape: the part of each, counted from 0.
    parts
        How many parts there are; some may hold no value.
    level
        0.99 for the P99.
    """

    values: NDArray[np.float64]
    part: NDArray[np.int64]
    parts: int
    level: float

    @property
    def value(self) -> float:
        """The quantile, interpolated; NaN of no values."""
        return float(np.quantile(self.values, self.level)) if len(self.values) else math.nan

    @property
    def even_parts(self) -> float:
        """Kish's effective number of parts, by the values that they hold."""
        return _effective(np.bincount(self.part, minlength=self.parts).astype(np.float64))

    @property
    def resamples(self) -> int:
        """QUANTILE_RESAMPLES: each is a pass over the values."""
        return QUANTILE_RESAMPLES

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least value with `level` of the weight at or below it, for each row."""
        found = np.full(len(weights), np.nan)
        step = max(1, _CHUNK // max(len(self.values), 1))
        for first in range(0, len(weights), step):
            below = np.cumsum(weights[first : first + step, self.part], axis=1)
            for row, sums in enumerate(below, first):
                if len(sums) and sums[-1] > 0:
                    found[row] = self.values[np.searchsorted(sums, self.level * sums[-1])]
        return found


def _effective(sizes: NDArray[np.float64]) -> float:
    """Return how many parts of one size have the same sum of squared shares."""
    squares = float(np.square(sizes).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0

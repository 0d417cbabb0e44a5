"""How much of the room between a baseline and the best that foresight does is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.statistics.parts import Ratio


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """`(ours - base) / (top - base)` of three ratios of sums over the same parts."""

    ours: Ratio
    base: Ratio
    top: Ratio

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return self.ours.parts

    @property
    def value(self) -> float:
        """The share with every part taken once; NaN where there is no room."""
        return float(self.resampled(np.ones((1, self.parts)))[0])

    @property
    def even_parts(self) -> float:
        """The least of the three."""
        return min(each.even_parts for each in (self.ours, self.base, self.top))

    @property
    def resamples(self) -> int:
        """As of a ratio."""
        return self.ours.resamples

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share for each row of `weights` (resamples, parts); NaN without room."""
        ours, base, top = (each.resampled(weights) for each in (self.ours, self.base, self.top))
        shares = np.full(len(weights), np.nan)
        np.divide(ours - base, top - base, out=shares, where=top != base)
        return shares

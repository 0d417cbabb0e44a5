"""How much of the room between a baseline and the best that foresight does is taken."""

from __future__ import annotations

import math
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
        """The share; NaN where there is no room."""
        room = self.top.value - self.base.value
        return (self.ours.value - self.base.value) / room if room else math.nan

    @property
    def even_parts(self) -> float:
        """The least of the three."""
        return min(each.even_parts for each in (self.ours, self.base, self.top))

    @property
    def influence(self) -> NDArray[np.float64]:
        """The gain of a part, less what the share makes of what it adds to the room."""
        value = self.value
        if not math.isfinite(value):
            return np.full(self.parts, np.nan)
        base = self.base.influence
        gain, room = self.ours.influence - base, self.top.influence - base
        influence: NDArray[np.float64] = (gain - value * room) / (self.top.value - self.base.value)
        return influence

"""Statistics computed from parts (blocks of time, sessions, ...), and each part's influence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]


class Statistic(Protocol):
    """A statistic computed from parts (blocks of time, sessions, ...)."""

    @property
    def parts(self) -> int:
        """Number of parts."""
        ...

    @property
    def value(self) -> float:
        """The number; NaN where it is not defined."""
        ...

    @property
    def even_parts(self) -> float:
        """The effective number of parts: how many equal ones carry as much information."""
        ...

    @property
    def influence(self) -> Floats:
        """The share of each part in the number's error, float64 of shape (parts,).

        It is the first term of the number's expansion in what the parts hold; the sum is zero.
        NaN where the number is.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A ratio of sums over parts, such as saved tokens over prompt tokens.

    Both are float64 of shape (parts,).
    """

    numerator: Floats
    denominator: Floats

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.numerator)

    @property
    def value(self) -> float:
        """Ratio of the two sums; NaN where the denominator is zero."""
        below = float(self.denominator.sum())
        return float(self.numerator.sum()) / below if below > 0 else math.nan

    @property
    def even_parts(self) -> float:
        """Kish's effective number of parts, by their shares of the denominator."""
        return _effective(self.denominator)

    @property
    def influence(self) -> Floats:
        """The part's numerator less what the ratio makes of its denominator, over the sum."""
        value = self.value
        if not math.isfinite(value):
            return np.full(self.parts, np.nan)
        influence: Floats = (self.numerator - value * self.denominator) / self.denominator.sum()
        return influence


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The share of a possible gain that is achieved, from three ratios over the same parts.

    It is `(ours - base) / (top - base)`: `base` is the ratio without the gain, `top` that with all
    of it.
    """

    ours: Ratio
    base: Ratio
    top: Ratio

    @property
    def parts(self) -> int:
        """Number of parts."""
        return self.ours.parts

    @property
    def value(self) -> float:
        """The share of the gain; NaN where `top` equals `base`."""
        room = self.top.value - self.base.value
        return (self.ours.value - self.base.value) / room if room else math.nan

    @property
    def even_parts(self) -> float:
        """The least effective number of parts among the three ratios."""
        return min(each.even_parts for each in (self.ours, self.base, self.top))

    @property
    def influence(self) -> Floats:
        """Each part's influence on the share of the gain, to first order."""
        value = self.value
        if not math.isfinite(value):
            return np.full(self.parts, np.nan)
        base = self.base.influence
        gain, room = self.ours.influence - base, self.top.influence - base
        influence: Floats = (gain - value * room) / (self.top.value - self.base.value)
        return influence


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
        The number of parts; some may hold no value.
    level
        0.99 for the P99.
    """

    values: Floats
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
    def influence(self) -> Floats:
        """Bahadur's influence: a part's excess of values above the quantile, times the slope.

        References
        ----------
        Bahadur (1966), "A note on quantiles in large samples".
        """
        value = self.value
        if not math.isfinite(value):
            return np.full(self.parts, np.nan)
        below = (self.values <= value).astype(np.float64)
        sums = np.bincount(self.part, below - below.mean(), self.parts) / len(self.values)
        influence: Floats = -self._slope(float(np.abs(sums).sum())) * sums
        return influence

    def _slope(self, moved: float) -> float:
        """Return how fast the quantile grows with its level, over a step to either side.

        The step is that of Hall and Sheather (1988), or how far the level's own error reaches,
        judged by what the parts differ in.
        """
        normal = float(ndtri(self.level))
        density = math.exp(-(normal**2) / 2) / math.sqrt(2 * math.pi)
        width = 1.5 * density**2 / (2 * normal**2 + 1)
        step = float(np.cbrt(float(ndtri(0.975)) ** 2 * width / len(self.values)))
        step = max(step, moved / math.sqrt(self.parts))
        low, high = max(self.level - step, 0.0), min(self.level + step, 1.0)
        ends = np.quantile(self.values, [low, high])
        return float(ends[1] - ends[0]) / (high - low)


def _effective(sizes: Floats) -> float:
    """Return how many parts of one size have the same sum of squared shares."""
    squares = float(np.square(sizes).sum())
    return float(sizes.sum() ** 2) / squares if squares else 0.0

"""Timed points, which are prefills of n tokens after c tokens of context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Typical = Literal["median", "minimum"]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Prefills of `n` tokens after `c` tokens of context, each timed repeatedly.

    Parameters
    ----------
    c, n
        int64, shape (points,), in tokens; n is at least 1.
    seconds
        float64, shape (points, repetitions), positive.
    typical
        The representative of the repetitions: "median" on a dedicated device, "minimum" on a shared
        one, where other processes can only add time.
    """

    c: Int64
    n: Int64
    seconds: Float64
    typical: Typical = "median"

    def __post_init__(self) -> None:
        shape = (len(self.n), self.seconds.shape[-1])
        if len(self.c) != len(self.n) or self.seconds.shape != shape or not shape[-1]:
            raise ValueError("c, n and seconds differ in length, or there is no repetition")
        if len(self.n) and (self.n.min() < 1 or self.c.min() < 0):
            raise ValueError("expected n of at least 1 and c of at least 0")
        if not (np.isfinite(self.seconds).all() and (self.seconds > 0).all()):
            raise ValueError("expected finite positive seconds")

    def __len__(self) -> int:
        return len(self.n)

    @property
    def value(self) -> Float64:
        """The representative time of each point in seconds, shape (points,)."""
        if self.typical == "median":
            return np.asarray(np.median(self.seconds, axis=1))
        return np.asarray(self.seconds.min(axis=1))

    @property
    def noise(self) -> Float64:
        """Relative spread of the repetitions of each point, shape (points,).

        For medians it is half the interquartile range; for minima, the excess of the second
        smallest over the smallest. 0 with one repetition.
        """
        if self.seconds.shape[1] == 1:
            return np.zeros(len(self))
        if self.typical == "median":
            low, high = np.quantile(self.seconds, [0.25, 0.75], axis=1)
            return np.asarray((high - low) / 2 / self.value)
        best = np.partition(self.seconds, 1, axis=1)
        return np.asarray(best[:, 1] / best[:, 0] - 1)

    def select(self, where: NDArray[np.bool_]) -> Points:
        """Return the points selected by a boolean mask."""
        return Points(self.c[where], self.n[where], self.seconds[where], self.typical)

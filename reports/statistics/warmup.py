"""Detection of the warm-up of a series."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MOST_WARMUP_SHARE = 0.5  # MSER-5 looks no further: a cut of half says that it may not settle


def mser5(values: ArrayLike) -> int:
    """Return how many leading values are warm-up, by the marginal standard error rule MSER-5.

    The series is averaged in fives; the cut `d`, at most half of the `n` means, is the one that
    makes the squared standard error of the rest, `sum((y - mean)^2) / (n - d)^2`, least. Fewer
    than ten means give 0.

    References
    ----------
    White, Cobb and Spratt (2000), "A comparison of five steady-state truncation heuristics".
    """
    series = np.asarray(values, dtype=np.float64)
    count = len(series) // 5
    if count < 10:
        return 0
    means = series[: count * 5].reshape(count, 5).mean(axis=1)
    means = means - means.mean()  # keeps the difference of squares below accurate
    left = np.arange(count, 0, -1)
    total = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    criterion = (squares - total**2 / left) / left**2
    return 5 * int(np.argmin(criterion[: count // 2 + 1]))

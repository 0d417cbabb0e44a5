"""Depths in cells of 1 %, and how probable they are under a law in cells.

The depths of two windows seldom agree to the token. Cells let one law predict another: half of
the weight of a cell is shared with its neighbours, and a tenth of all weight is spread evenly, so
that no depth is impossible.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

WIDTH = 0.01  # of a cell, in units of log(depth)
SPREAD = 0.1  # the share that is spread evenly,
RANGE = 5.0  # as if over so many units of log(depth)


def cells(log_depths: Float64) -> Int64:
    """Return the cell of each depth, from the logarithms of depths."""
    return np.floor(log_depths / WIDTH).astype(np.int64)


def near(weights: Float64, at: Int64) -> Float64:
    """Return the weight near each of some cells, shape (..., m).

    Parameters
    ----------
    weights
        Of each cell, shape (..., cells).
    at
        Cells, shape (m,), neither the first nor the last.
    """
    shared: Float64 = weights[..., at] / 2 + (weights[..., at - 1] + weights[..., at + 1]) / 4
    return shared


def log_score(shares: Float64) -> Float64:
    """Return the log-probability of some depths, shape (...,), from the shares near them.

    Parameters
    ----------
    shares
        Weights of `near` over all weight, shape (..., m).
    """
    scores: Float64 = np.log((1 - SPREAD) * shares + SPREAD * WIDTH / RANGE).sum(axis=-1)
    return scores

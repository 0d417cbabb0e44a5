"""The cost form, t(c, n) = F(n) + e n (c + n/2) + g c, with F linear between knots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.fit.points import Float64, Int64

FLOOR_TOKENS = 64  # up to here a prefill is one chunk: a floor
CONTEXT_SHARE = 0.5  # of the time: beyond, pairs with the context dominate
REGIMES = ("one token", "floor", "linear", "context")


@dataclass(frozen=True, slots=True, eq=False)
class CostForm:
    """Coefficients of the form, in seconds.

    Parameters
    ----------
    knots
        int64, ascending, at least two: tokens at which F stands.
    own_seconds
        float64, one a knot: F there. Between knots F is linear; below the first it is constant, and
        beyond the last it goes on straight, as in `simulator.costs.cost_model`.
    pair_seconds
        e: of one pair of a new token and a token before it.
    context_seconds
        g: of one token of context.
    """

    knots: Int64
    own_seconds: Float64
    pair_seconds: float
    context_seconds: float = 0.0

    def seconds(self, c: Int64, n: Int64) -> Float64:
        """Return t(c, n), shape of `n`."""
        return np.asarray(design(self.knots, c, n) @ self.coefficients())

    def pair_share(self, c: Int64, n: Int64) -> Float64:
        """Return which share of t(c, n) is pairs with the context."""
        return np.asarray(self.pair_seconds * n * c / self.seconds(c, n))

    def coefficients(self) -> Float64:
        """Return F at the knots, e and g as one vector, in the order of `design`."""
        return np.concatenate([self.own_seconds, [self.pair_seconds, self.context_seconds]])

    @classmethod
    def of(cls, knots: Int64, coefficients: Float64) -> CostForm:
        """Return the form with these coefficients."""
        return cls(knots, coefficients[:-2], float(coefficients[-2]), float(coefficients[-1]))


def design(knots: Int64, c: Int64, n: Int64) -> Float64:
    """Return the matrix, shape (points, knots + 2), that coefficients turn into seconds."""
    new, context = n.astype(np.float64), c.astype(np.float64)
    pairs = new * (context + new / 2)
    return np.column_stack([_hats(knots.astype(np.float64), new), pairs, context])


def _hats(knots: Float64, n: Float64) -> Float64:
    """Return the weight of every knot in the interpolation at `n`, shape (points, knots)."""
    n = np.maximum(n, knots[0])
    left = np.clip(np.searchsorted(knots, n, side="right") - 1, 0, len(knots) - 2)
    share = (n - knots[left]) / (knots[left + 1] - knots[left])
    weights = np.zeros((len(n), len(knots)))
    row = np.arange(len(n))
    weights[row, left], weights[row, left + 1] = 1 - share, share
    return weights


def regimes(form: CostForm, c: Int64, n: Int64) -> NDArray[np.int64]:
    """Return the regime of each point, an index into `REGIMES`.

    One token has its own kernel; up to 64 tokens are one chunk; beyond, the cost is linear until
    pairs with the context are more than half of it.
    """
    context = form.pair_share(c, n) > CONTEXT_SHARE
    return np.select([n == 1, n <= FLOOR_TOKENS, ~context], [0, 1, 2], default=3)

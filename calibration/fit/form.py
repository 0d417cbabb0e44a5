"""The cost form, which gives the time to prefill n tokens after c tokens of context.

It is t(c, n) = F(n) + e n (c + n/2) + g c, with F linear between knots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.fit.points import Float64, Int64

FLOOR_TOKENS = 64  # prefills up to this size are one chunk and take the same time
CONTEXT_SHARE = 0.5  # of the time; above it, attention to the context dominates
REGIMES = ("one token", "floor", "linear", "context")


@dataclass(frozen=True, slots=True, eq=False)
class CostForm:
    """Coefficients of the cost form, in seconds.

    Parameters
    ----------
    knots
        int64, ascending, at least two: token counts at which F is given.
    own_seconds
        float64, one per knot: F. It is linear between knots, constant below the first, and
        extrapolated after the last, as in `simulator.costs.cost_model`.
    pair_seconds
        e, per pair of a new token and a token before it.
    context_seconds
        g, per token of context.
    """

    knots: Int64
    own_seconds: Float64
    pair_seconds: float
    context_seconds: float = 0.0

    def seconds(self, c: Int64, n: Int64) -> Float64:
        """Return the prefill time of `n` tokens after `c` tokens of context, shaped like `n`."""
        return np.asarray(design(self.knots, c, n) @ self.coefficients())

    def pair_share(self, c: Int64, n: Int64) -> Float64:
        """Return the fraction of the prefill time spent on attention to context tokens."""
        return np.asarray(self.pair_seconds * n * c / self.seconds(c, n))

    def coefficients(self) -> Float64:
        """Return F at the knots, e and g as a vector, in the order of the columns of `design`."""
        return np.concatenate([self.own_seconds, [self.pair_seconds, self.context_seconds]])

    @classmethod
    def of(cls, knots: Int64, coefficients: Float64) -> CostForm:
        """Build the cost form from its vector of coefficients."""
        return cls(knots, coefficients[:-2], float(coefficients[-2]), float(coefficients[-1]))


def design(knots: Int64, c: Int64, n: Int64) -> Float64:
    """Return the matrix, shape (points, knots + 2), that maps coefficients to seconds."""
    new, context = n.astype(np.float64), c.astype(np.float64)
    pairs = new * (context + new / 2)
    return np.column_stack([_hats(knots.astype(np.float64), new), pairs, context])


def _hats(knots: Float64, n: Float64) -> Float64:
    """Return the weight of every knot in linear interpolation at `n`, shape (points, knots)."""
    n = np.maximum(n, knots[0])
    left = np.clip(np.searchsorted(knots, n, side="right") - 1, 0, len(knots) - 2)
    share = (n - knots[left]) / (knots[left + 1] - knots[left])
    weights = np.zeros((len(n), len(knots)))
    row = np.arange(len(n))
    weights[row, left], weights[row, left + 1] = 1 - share, share
    return weights


def regimes(form: CostForm, c: Int64, n: Int64) -> NDArray[np.int64]:
    """Return the regime of each point (a prefill of n tokens), as an index into `REGIMES`.

    One token has its own kernel; up to 64 tokens are one chunk; longer prefills are linear in n
    until attention to the context takes more than half of the time.
    """
    context = form.pair_share(c, n) > CONTEXT_SHARE
    return np.select([n == 1, n <= FLOOR_TOKENS, ~context], [0, 1, 2], default=3)

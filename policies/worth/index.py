"""The rate of uses to expect of a point that waits, by its kind and age.

A point is used, waits, is used again. What it is worth to keep the state that serves it follows
from the chance h_b(k) of a use in each bin b of ages, given that its wait, the k-th, has come so
far. At a price of rho uses a request the best that can be made of it is

    V(k, b) = max(0, h_b (1 + V(k+1, 0)) + (1 - h_b) V(k, b+1) - rho w_b (1 - h_b / 2)),

w_b being the width of the bin in requests: keep it through this bin, or let it go for good. The
index of the point is the greatest rho at which V is still positive (J. C. Gittins 1979): the uses
a request that it earns while it is worth keeping. Since a use makes a point another (k + 1), the
index of one that is seldom used, and often once it has been, counts both.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.worth.kinds import STAGES
from policies.worth.waits import BINS

STEP: Final = 2.0**0.5
PRICES: Final = 2.0 ** np.arange(-22.0, 2.0, 0.5)  # uses a request
FREE: Final = 0  # the least price stands for none
ROUNDS: Final = 4  # to the fixed point of a last stage that follows itself

_WIDTHS = np.array([1.0] + [2.0 ** (b - 1) for b in range(1, BINS)])
Table = NDArray[np.float64]


def indices(chances: Table, again: NDArray[np.bool_]) -> tuple[Table, Table]:
    """Return the index of each kind of point by its age, and the uses to expect of a new wait.

    Parameters
    ----------
    chances
        float64, shape (kinds, STAGES, BINS): the chance of a use in each bin, of those that come
        to it; below 1.
    again
        bool, shape (kinds,): whether a kind of point is used more than once.

    Returns
    -------
    index : float64, shape (kinds, STAGES, BINS)
        Uses a request.
    uses : float64, shape (kinds, STAGES)
        Uses from the begin of a wait on where keeping costs nothing.
    """
    kinds = len(chances)
    index = np.zeros((kinds, STAGES, BINS))
    uses = np.zeros((kinds, STAGES))
    follows = np.where(again, 1.0, 0.0)[:, None]
    later = np.zeros((kinds, len(PRICES)))
    for stage in reversed(range(STAGES)):
        chance = chances[:, stage].T[:, :, None]
        paid = PRICES * (_WIDTHS[:, None, None] * (1.0 - chance / 2))
        stays = np.repeat(1.0 - chance, len(PRICES), axis=2)
        for _ in range(ROUNDS if stage == STAGES - 1 else 1):
            values = _values(chance * (1.0 + follows * later) - paid, stays)
            if stage == STAGES - 1:
                later = values[0]
        later = values[0]
        index[:, stage] = _zeros(values).T
        uses[:, stage] = later[:, FREE]
    return index, uses


def _values(earned: Table, stays: Table) -> Table:
    """Return V by bin of ages, kind and price, as are what is earned in a bin, and what is left.

    All have the shape (BINS, kinds, prices).
    """
    values = np.zeros((BINS + 1, *earned.shape[1:]))
    nothing = values[BINS]
    for age_bin in reversed(range(BINS)):
        value = values[age_bin]
        np.multiply(stays[age_bin], values[age_bin + 1], out=value)
        np.add(value, earned[age_bin], out=value)
        np.maximum(value, nothing, out=value)
    return values[:-1]


def _zeros(values: Table) -> Table:
    """Return the price at which each value comes to 0, shape (BINS, kinds)."""
    last = np.maximum(np.count_nonzero(values > 0.0, axis=2) - 1, 1)
    where = np.arange(0, values.size, values.shape[2]).reshape(last.shape) + last
    at, before = values.take(where), values.take(where - 1)
    price, less = PRICES[last], PRICES[last - 1]
    # V is convex: on the line through the last two values it reaches 0 no later than V does.
    fall = np.maximum(before - at, 1e-300)
    zeros: Table = price + np.minimum(at * (price - less) / fall, price * (STEP - 1.0))
    return zeros

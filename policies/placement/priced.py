"""Placement at a price per checkpoint instead of a number of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from policies.parameters import require
from policies.placement.chain import priced_chain
from policies.placement.support import Potential, support_of


def priced_positions(
    depths: ArrayLike, weights: ArrayLike, price: float, potential: Potential | None = None
) -> list[int]:
    """Return the positions C that maximise S(C) - price |C|, exactly, in O(S).

    The greatest saving S(M) is concave in M (staircase.py, 5), so this is an optimal set of the
    budget at which the marginal gain falls to the price: every checkpoint that is worth more
    than it costs, and none that is not. A price of 0 takes the whole support, one of infinity
    nothing.

    Parameters
    ----------
    depths, weights
        The law, as for `support_of`.
    price
        Of a checkpoint, on the scale of G times weight: tokens a request if G counts tokens and
        the weights sum to 1. 0 or more, infinity included.
    potential
        A non-decreasing G; tokens where None.

    Raises
    ------
    ValueError
        Where the law or the price is not as described.

    Examples
    --------
    >>> priced_positions([4, 7, 10], [0.6, 0.3, 0.1], price=1.0)
    [4, 7]
    >>> priced_positions([4, 7, 10], [0.6, 0.3, 0.1], price=2.0)
    [4]
    """
    support = support_of(depths, weights, potential)
    require(price >= 0, "price", "0 or more", price)
    gains, survival = support.potentials[::-1].tolist(), support.survival[::-1].tolist()
    chosen = priced_chain(gains, survival, price)
    positions: list[int] = support.depths[::-1][chosen].tolist()
    return positions


def budget_at_price(savings_by_budget: ArrayLike, price: float) -> int:
    """Return the least budget whose next checkpoint would gain no more than `price`.

    Parameters
    ----------
    savings_by_budget
        float64, shape (budget + 1,): concave, as `solve` gives it.
    price
        Of a checkpoint, on the same scale.

    Raises
    ------
    ValueError
        Where the price is negative or NaN.
    """
    require(price >= 0, "price", "0 or more", price)
    gains = np.diff(np.asarray(savings_by_budget, np.float64))
    return int((np.minimum.accumulate(gains) > price).sum()) if len(gains) else 0

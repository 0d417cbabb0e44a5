"""One budget shared by many prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.parameters import require


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """Division of a byte budget among prefixes.

    Parameters
    ----------
    checkpoints
        int64, shape (prefixes,): the budget of each prefix.
    saving
        The total saving of all checkpoints.
    bound
        No allocation saves more. Equal to `saving` where all states weigh the same.
    price
        The shared price, in saving per byte: every checkpoint that gains more per byte is
        there, none that gains less. 0 where the bytes do not bind.
    used_bytes
        Bytes that are spent.
    """

    checkpoints: NDArray[np.int64]
    saving: float
    bound: float
    price: float
    used_bytes: int


def allocate(
    curves: Sequence[ArrayLike], state_bytes: int | Sequence[int], budget_bytes: int
) -> Allocation:
    """Share `budget_bytes` among prefixes so that they save most together.

    Each curve is concave, so the best k checkpoints of a prefix are its first k marginal gains,
    and these fall: the greatest total is that of the greatest gains per byte, wherever they come
    from. The last one taken is the price, and each prefix alone would buy the same at that price.
    With states of one size this is exact for every budget, whatever remains being less than a
    state. With several sizes it is the greedy solution of a knapsack: the gain of the part of the
    next checkpoint that would still fit closes the `bound` (Dantzig 1957), so the loss is less
    than the gain of one checkpoint; smaller ones that still fit are taken. Of equal gains the
    first prefix wins.

    Parameters
    ----------
    curves
        For each prefix its greatest saving by budget, from 0 checkpoints on, as `solve` gives it,
        weighted by how often the prefix is asked for.
    state_bytes
        Of a state; one for all, or one for each prefix.
    budget_bytes
        In all, 0 or more.

    Raises
    ------
    ValueError
        Where a curve is not finite, non-decreasing and concave, or sizes are not positive.
    """
    gains = [_gains(number, curve) for number, curve in enumerate(curves)]
    sizes = np.broadcast_to(np.asarray(state_bytes, np.int64), len(gains))
    require(bool((sizes > 0).all()), "state_bytes", "1 or more", state_bytes)
    require(budget_bytes >= 0, "budget_bytes", "0 or more", budget_bytes)
    owner = np.repeat(np.arange(len(gains)), [len(each) for each in gains])
    gain = np.concatenate([*gains, np.empty(0)])
    size = sizes[owner]
    rate = gain / size
    order = np.argsort(-rate, kind="stable")
    order = order[gain[order] > 0.0]
    spent = np.cumsum(size[order])
    fitting = int(spent.searchsorted(budget_bytes, side="right"))
    taken = order[:fitting]
    checkpoints = np.bincount(owner[taken], minlength=len(gains)).astype(np.int64)
    saving, used = float(gain[taken].sum()), int(size[taken].sum())
    if fitting == len(order):
        return Allocation(checkpoints, saving, saving, 0.0, used)
    price = float(rate[order[fitting]])
    if (sizes == sizes[0]).all():
        return Allocation(checkpoints, saving, saving, price, used)
    bound = saving + price * (budget_bytes - used)
    closed = np.zeros(len(gains), np.bool_)  # a later gain needs the earlier ones
    for item in order[fitting:].tolist():
        prefix = owner[item]
        if not closed[prefix] and used + size[item] <= budget_bytes:
            checkpoints[prefix] += 1
            saving, used = saving + float(gain[item]), used + int(size[item])
        else:
            closed[prefix] = True
    return Allocation(checkpoints, saving, bound, price, used)


def _gains(number: int, curve: ArrayLike) -> NDArray[np.float64]:
    """Return the marginal gains of a curve, made to fall where rounding says otherwise."""
    savings = np.asarray(curve, np.float64)
    what = f"curves[{number}]"
    require(savings.ndim == 1 and len(savings) > 0, what, "savings from 0 checkpoints on", curve)
    gains = np.diff(savings)
    slack = 1e-9 * float(np.abs(savings).max())
    fine = bool(np.isfinite(savings).all() and (gains >= -slack).all())
    fine = fine and bool((np.diff(gains) <= slack).all())
    require(fine, what, "finite, non-decreasing and concave savings", curve)
    return np.minimum.accumulate(np.maximum(gains, 0.0))

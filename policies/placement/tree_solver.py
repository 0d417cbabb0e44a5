"""Placement of a number of checkpoints on a prefix tree, with a bound on its loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.parameters import require_at_least
from policies.placement.tree_exact import exact_cells, exact_tree
from policies.placement.tree_greedy import extended_greedily
from policies.placement.tree_law import TreeLaw
from policies.placement.tree_priced import priced_tree

EXACT_CELLS = 2_000_000  # some tenths of a second
MOST_PRICES = 200
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class TreePlan:
    """A set of checkpoints on a tree.

    Parameters
    ----------
    chosen
        bool, shape (n,): which candidates.
    saving
        What the set saves, on the scale of G times weight.
    bound
        No set of at most the same budget saves more; equal to `saving` where that is optimal.
    price
        The price of a checkpoint at which the bound was found; 0 where the budget does not bind.
    """

    chosen: NDArray[np.bool_]
    saving: float
    bound: float
    price: float


@dataclass(frozen=True, slots=True, eq=False)
class _Corner:
    """A set that is optimal at some price: a corner of the upper hull of saving over number."""

    chosen: NDArray[np.bool_]
    number: int
    saving: float

    @classmethod
    def of(cls, law: TreeLaw, chosen: NDArray[np.bool_]) -> _Corner:
        return cls(chosen, int(chosen.sum()), law.saving(chosen))


def solve_tree(law: TreeLaw, budget: int) -> TreePlan:
    """Choose at most `budget` checkpoints, exactly on small trees, else by price.

    For any price, S(C) <= max over all sets (S - price |C|) + price * budget: each price gives an
    upper bound (Lagrangian duality; Everett 1963, Operations Research 11). The least of them is
    that of the edge of the upper hull of the points (|C|, S(C)) over the budget, and the line
    through two known corners gives the price that finds a corner between them, or shows that
    there is none. Where the budget meets a corner the set is optimal. Else the corner before is
    extended greedily; the greatest saving is not concave in the budget on a tree, so a gap may
    remain even for the best set.

    Parameters
    ----------
    law
        The candidates.
    budget
        Checkpoints, 0 or more.

    Raises
    ------
    ValueError
        Where the budget is negative.
    """
    require_at_least("budget", budget, 0)
    everything = _Corner.of(law, np.ones(len(law), np.bool_))
    if everything.number <= budget:
        return TreePlan(everything.chosen, everything.saving, everything.saving, 0.0)
    if exact_cells(law, budget) <= EXACT_CELLS:
        best = _Corner.of(law, exact_tree(law, budget))
        return TreePlan(best.chosen, best.saving, best.saving, 0.0)
    few, price, bound = _edge(law, budget, everything)
    chosen = extended_greedily(law, few.chosen, budget)
    saving = law.saving(chosen)
    return TreePlan(chosen, saving, max(bound, saving), price)


def _edge(law: TreeLaw, budget: int, many: _Corner) -> tuple[_Corner, float, float]:
    """Return the corner at or before `budget`, the price of the edge there and its bound."""
    few = _Corner.of(law, np.zeros(len(law), np.bool_))
    price = bound = 0.0
    for _ in range(MOST_PRICES):
        # Many save no less than few, but for rounding.
        price = max(0.0, many.saving - few.saving) / (many.number - few.number)
        corner = _Corner.of(law, priced_tree(law, price))
        best = corner.saving - price * corner.number
        bound = best + price * budget
        line = few.saving - price * few.number
        if best <= line + ROUNDING * max(abs(few.saving), 1.0):
            break
        if corner.number <= budget:
            few = corner
        else:
            many = corner
        if few.number == budget:
            return few, price, few.saving
    return few, price, bound

"""Evenly spread checkpoints: the optimum for a uniform law of overlaps."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from policies.placement.retention import best_for_uniform
from simulator.plugins.protocols import Prefix, Window


def balanced_positions(budget: int, prefix: Prefix) -> list[int]:
    """Return the optimal positions behind `prefix.resume` for overlaps uniform on 1..L.

    With K = budget + 1 gaps between 0 and L + 1, a gap of g tokens costs 0 + 1 + ... + (g - 1) =
    C(g, 2). Moving one token from a gap g_i >= g_j + 2 to g_j gains g_i - g_j - 1 > 0, so optimal
    gaps differ by at most one, and which of them are longer does not matter, neither to the mean
    nor to the worst case: with L + 1 = q K + r the mean recompute is
    [r C(q + 1, 2) + (K - r) C(q, 2)] / L, the worst ceil((L + 1) / K) - 1. The positions
    floor(i (L + 1) / K) have such gaps, with the longer ones spread evenly.
    """
    length = prefix.prompt_tokens
    gaps = min(budget, length) + 1
    # floor(i (L + 1) / K) > resume  <=>  i >= (resume + 1) K / (L + 1)
    first = max(1, ((prefix.resume + 1) * gaps + length) // (length + 1))
    return [i * (length + 1) // gaps for i in range(first, gaps)]


class Balanced(BasePlacer):
    """Spread `budget` checkpoints evenly: exactly optimal for overlaps uniform on 1..L.

    Parameters
    ----------
    budget
        Checkpoints for a whole prefix, 1 or more.

    Source: arXiv 2605.05219, Theorem 1, with the remainder spread over the gaps.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("balanced:budget=3", prompt_tokens=100)
    [25, 50, 75]
    >>> planned("balanced:budget=3", prompt_tokens=20)  # the same number in a shorter prompt
    [5, 10, 15]
    """

    def __init__(self, budget: int) -> None:
        require_at_least("budget", budget, 1)
        self._budget = budget

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return positions whose gaps differ by at most one token."""
        return balanced_positions(self._budget, prefix)

    def retain(
        self, prefix: Prefix, states: Sequence[int], wanted: Sequence[int], most: int
    ) -> Sequence[int]:
        """Keep the states, old or new, that save most of overlaps uniform on 1..L."""
        return best_for_uniform(states, wanted, most, prefix.prompt_tokens)

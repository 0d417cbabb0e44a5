"""Greedy placement for a learned law."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from policies.placement.learned import LearnedPlacer
from policies.placement.retention import Chooser
from policies.placement.support import Support, floored_tokens, support_of
from policies.placement.views import Plan
from simulator.plugins.protocols import Law


def greedy_positions(support: Support, budget: int, limit: int | None = None) -> list[int]:
    """Return positions chosen one by one, each adding most to what those before it save.

    Between neighbours a < x < b, x adds (G(x) - G(a)) (T(x) - T(b)), and never more once more are
    chosen: the saving is monotone and submodular, so greedy keeps at least 1 - 1/e of the optimum
    (Nemhauser, Wolsey and Fisher 1978). It is lazy: a choice leaves every gain outside its own gap
    as it was, and only those inside are computed again. Of equal gains the lowest position wins.

    Parameters
    ----------
    support
        The law.
    budget
        The number of checkpoints, at most.
    limit
        Length of the prompt; deeper overlaps count as this. None for no limit.
    """
    if limit is not None:
        support = support.truncated(limit)
    survival, potentials = support.survival, support.potentials
    from_a, from_b = np.zeros(len(support)), np.zeros(len(support))  # G(a) and T(b) for each x
    gains = potentials * survival
    chosen: list[int] = []
    for _ in range(min(budget, len(support))):
        x = int(gains.argmax())
        if gains[x] <= 0.0:
            break
        place = bisect_left(chosen, x)
        a = chosen[place - 1] if place else -1
        b = chosen[place] if place < len(chosen) else len(support)
        chosen.insert(place, x)
        from_a[x:b], from_b[a + 1 : x] = potentials[x], survival[x]
        gap = slice(a + 1, b)
        gains[gap] = (potentials[gap] - from_a[gap]) * (survival[gap] - from_b[gap])
    return [support.depths.item(x) for x in chosen]


class Greedy(LearnedPlacer):
    """Plan greedily for a learned law: at least 1 - 1/e of the optimum, and mostly all of it.

    Parameters
    ----------
    budget, window, decay, train, replan, drift, scope, coordinate, predict
        As for every LearnedPlacer.

    Source: Nemhauser, Wolsey and Fisher 1978, Mathematical Programming 14.

    Examples
    --------
    The first position saves most alone, which need not be part of the best pair:

    >>> from policies.tryout import planned
    >>> planned("greedy:budget=2,replan=1", prompt_tokens=100, overlaps=[30, 50, 90])
    [50, 90]
    >>> planned("optimal:budget=2,replan=1", prompt_tokens=100, overlaps=[30, 50, 90])
    [30, 90]
    """

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the greedy positions for each length of a prompt."""
        support = support_of(law.depths, law.weights, floored_tokens(step, phase))
        return lambda length, budget: greedy_positions(support, budget, length)

    def chooser(self) -> Chooser:
        """Return the greedy choice among given positions."""
        return lambda depths, weights, most: greedy_positions(support_of(depths, weights), most)

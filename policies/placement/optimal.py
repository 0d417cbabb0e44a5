"""Optimal placement for a learned law of overlaps."""

from __future__ import annotations

from policies.placement.learned import LearnedPlacer
from policies.placement.staircase import solve
from policies.placement.support import floored_tokens
from policies.placement.views import Plan
from simulator.plugins.protocols import Law


class Optimal(LearnedPlacer):
    """Plan the exact optimum for a learned law.

    Parameters
    ----------
    budget, window, decay, train, replan, drift, scope, coordinate, predict
        As for every LearnedPlacer.

    Source: arXiv 2605.05219, Theorem 2, corrected; see policies/placement/staircase.py.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("optimal:budget=2,replan=1", prompt_tokens=100, overlaps=[30, 50, 90])
    [30, 90]
    >>> planned("optimal:budget=2,replan=1", prompt_tokens=100, overlaps=[30, 50, 50, 90])
    [50, 90]
    >>> planned("optimal:budget=2", prompt_tokens=100)  # nothing is known yet: as `balanced`
    [33, 67]
    """

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the best positions for each length of a prompt."""
        staircase = solve(law.depths, law.weights, self._budget, floored_tokens(step, phase))
        return lambda length, budget: staircase.positions(budget, length)

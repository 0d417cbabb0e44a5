"""The optimum for a learned law."""

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
    budget, window, decay, train, replan, drift, scope, coordinate
        As for every LearnedPlacer.

    Source: arXiv 2605.05219, Theorem 2, corrected; see policies/placement/staircase.py.
    """

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the best positions for each length of a prompt."""
        staircase = solve(law.depths, law.weights, self._budget, floored_tokens(step, phase))
        return lambda length, budget: staircase.positions(budget, length)

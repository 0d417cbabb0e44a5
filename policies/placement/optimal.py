"""The optimum for a learned law."""

from __future__ import annotations

from functools import partial

from policies.placement.learned import LearnedPlacer, Plan
from policies.placement.staircase import solve
from policies.placement.support import floored_tokens
from simulator.protocols import Law


class Optimal(LearnedPlacer):
    """Plan the exact optimum for a learned law.

    Parameters
    ----------
    budget, window, decay, train, replan, drift
        As for every LearnedPlacer.
    """

    source = "arXiv 2605.05219, Theorem 2, corrected; see policies/placement/staircase.py"

    def plan(self, law: Law, step: int) -> Plan:
        """Return the best positions for each length of a prompt."""
        staircase = solve(law.depths, law.weights, self._budget, floored_tokens(step))
        return partial(staircase.positions, self._budget)

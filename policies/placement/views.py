"""A learned law in one coordinate and scope, and the plans that follow from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from policies.estimation import CountingEstimator, MixtureEstimator
from policies.estimation.coordinates import counted
from simulator.plugins.protocols import Law, Overlap

# Maps the length of a prompt and a budget to positions for all of it, in the law's coordinate.
Plan = Callable[[int, int], list[int]]
# Maps (law, step, phase) to a plan; x is floored to (phase + x) - (phase + x) % step - phase.
Planner = Callable[[Law, int, int], Plan]

MOST_PLANS = 1024  # plans that are kept; all are dropped when there are more


class PlannedPrompt(NamedTuple):
    """A prompt to plan for.

    Parameters
    ----------
    length
        Tokens.
    branch
        The last branch point known; 0 for none.
    resume
        The resume point.
    step
        Positions are floored to multiples of it.
    label, session
        Numbers of the label and of the session, -1 where unknown.
    """

    length: int
    branch: int
    resume: int
    step: int
    label: int
    session: int


class LawView:
    """Learns the law of overlaps in one coordinate, and plans for the law last settled.

    Parameters
    ----------
    coordinate
        "start", "end" or "branch".
    scope
        "global", "label" or "document": whose law to plan for. The narrower ones need a Mixture.
    estimator
        Learns the law.
    planner
        Plans for it.
    """

    def __init__(
        self, coordinate: str, scope: str, estimator: CountingEstimator, planner: Planner
    ) -> None:
        self.coordinate = coordinate
        self._scope = scope
        self._estimator = estimator
        self._planner = planner
        self._law = estimator.law()
        self._plans: dict[tuple[int, ...], Plan] = {}

    @property
    def law(self) -> Law:
        """The law last settled."""
        return self._law

    @property
    def known(self) -> bool:
        """Whether an overlap was seen before the law was settled."""
        return len(self._law.depths) > 0

    def observe(self, overlap: Overlap) -> None:
        """Learn from an overlap; plans stay as they are."""
        self._estimator.observe(counted(overlap, self.coordinate))

    def settle(self) -> None:
        """Use the law as it is now for all later plans."""
        if isinstance(self._estimator, MixtureEstimator):
            self._estimator.settle()
        law = self._estimator.law()
        if law.version != self._law.version:
            self._plans.clear()
        self._law = law

    def positions(self, target: PlannedPrompt, budget: int) -> list[int]:
        """Return positions for the whole prompt, from its start: ascending, at most `budget`."""
        label = target.label if self._scope != "global" else -1
        session = target.session if self._scope == "document" else -1
        if self.coordinate == "branch":
            return self._behind_branch(target, budget, label, session)
        length = target.length
        variant = length if self.coordinate == "end" else 0  # a law for each length, or for all
        key = (label, session, target.step, variant)
        plan = self._plans.get(key)
        if plan is None:
            law = self._law_of(label, session)
            law = _from_start(law, length) if self.coordinate == "end" else law
            plan = self._keep(key, self._planner(law, target.step, 0))
        return plan(length, budget)

    def _behind_branch(
        self, target: PlannedPrompt, budget: int, label: int, session: int
    ) -> list[int]:
        """Return the branch point, if there is no state yet, and the plan behind it."""
        branch = target.branch
        kept = [branch] if branch > target.resume else []
        if branch >= target.length or len(kept) == budget:
            return kept
        key = (label, session, target.step, branch % target.step)
        plan = self._plans.get(key)
        if plan is None:
            law = self._law_of(label, session)
            plan = self._keep(key, self._planner(law, target.step, branch % target.step))
        behind = plan(target.length - branch, budget - len(kept))
        return kept + [branch + distance for distance in behind]

    def law_from_start(self, target: PlannedPrompt) -> Law:
        """Return the law of the depths in a prompt, counted from its start.

        With the coordinate "branch" every overlap reaches the branch point at least.
        """
        label = target.label if self._scope != "global" else -1
        session = target.session if self._scope == "document" else -1
        law = self._law_of(label, session)
        if self.coordinate == "end":
            return _from_start(law, target.length)
        if self.coordinate == "branch" and target.branch:
            depths = np.concatenate(([target.branch], law.depths + target.branch))
            return Law(depths, np.concatenate(([law.misses], law.weights)))
        return law

    def _law_of(self, label: int, session: int) -> Law:
        estimator = self._estimator
        if isinstance(estimator, MixtureEstimator):
            return estimator.law_for(label, session)
        return self._law

    def _keep(self, key: tuple[int, ...], plan: Plan) -> Plan:
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan


def _from_start(law: Law, length: int) -> Law:
    """Return the law of depths from the start for a prompt, from 1 + the distance from its end."""
    depths = law.depths[::-1] * -1 + (length + 1)
    inside = depths > 0
    return Law(depths[inside], law.weights[::-1][inside])

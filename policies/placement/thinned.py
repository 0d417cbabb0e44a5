"""Placement for a learned law by leaving out."""

from __future__ import annotations

from policies.placement.learned import LearnedPlacer
from policies.placement.support import Support, floored_tokens, support_of
from policies.placement.views import Plan
from simulator.plugins.protocols import Law


def thinned_positions(support: Support, budget: int, limit: int | None = None) -> list[int]:
    """Return what is left when, one by one, the position goes whose loss is least.

    It starts with a checkpoint at every depth of the support. One at x between a and b loses
    (G(x) - G(a)) (T(x) - T(b)), since what resumed at x resumes at a from then on. Of equal
    losses the deepest goes. O(S^2), with S distinct depths.

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
    kept = list(range(len(support)))
    gains = [0.0, *support.potentials.tolist()]  # index + 1, so that -1 is the start
    survival = [*support.survival.tolist(), 0.0]
    while len(kept) > budget:
        around = zip([-1, *kept[:-1]], kept, [*kept[1:], len(support)], strict=True)
        losses = [(gains[x + 1] - gains[a + 1]) * (survival[x] - survival[b]) for a, x, b in around]
        least = min(range(len(kept)), key=lambda i: (losses[i], -i))
        del kept[least]
    return [support.depths.item(x) for x in kept]


class Thinned(LearnedPlacer):
    """Plan for a learned law by leaving out: keep at most `budget`, drop what loses least.

    What an engine does that has too many checkpoints and drops them one at a time. It has no
    guarantee: where losses are equal it may drop the wrong one of a pair.

    Parameters
    ----------
    budget, window, decay, train, replan, drift, scope, coordinate
        As for every LearnedPlacer.

    Source: none; docs/placement.md, section 6, compares it with the optimum.
    """

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the thinned positions for each length of a prompt."""
        support = support_of(law.depths, law.weights, floored_tokens(step, phase))
        return lambda length, budget: thinned_positions(support, budget, length)

"""Placement for a learned law by backward elimination."""

from __future__ import annotations

from policies.placement.learned import LearnedPlacer
from policies.placement.retention import Chooser
from policies.placement.support import Support, floored_tokens, support_of
from policies.placement.views import Plan
from simulator.plugins.protocols import Law


def thinned_positions(support: Support, budget: int, limit: int | None = None) -> list[int]:
    """Return the positions left after dropping, one by one, the position whose loss is least.

    It starts with a checkpoint at every depth of the support. Dropping one at x between a and b
    loses (G(x) - G(a)) (T(x) - T(b)), since requests that resumed at x resume at a from then on.
    Of equal losses the deepest is dropped. O(S^2), with S distinct depths.

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
    """Plan for a learned law by dropping checkpoints one by one, the least loss first.

    It starts with a checkpoint at every depth and stops at `budget`, as an engine does that has
    too many checkpoints. It has no guarantee: of equal losses it may drop the wrong one.

    Parameters
    ----------
    budget, window, decay, train, replan, drift, scope, coordinate, predict
        As for every LearnedPlacer.

    Source: none; docs/placement.md, section 6, compares it with the optimum.

    Examples
    --------
    Of checkpoints at 20, 30, 40 and 50 tokens it drops the deepest of those whose loss is equal:

    >>> from policies.tryout import planned
    >>> planned("thinned:budget=1,replan=1", prompt_tokens=100, overlaps=[20, 30, 40, 50])
    [20]
    >>> planned("optimal:budget=1,replan=1", prompt_tokens=100, overlaps=[20, 30, 40, 50])
    [30]
    """

    def plan(self, law: Law, step: int, phase: int) -> Plan:
        """Return the thinned positions for each length of a prompt."""
        support = support_of(law.depths, law.weights, floored_tokens(step, phase))
        return lambda length, budget: thinned_positions(support, budget, length)

    def chooser(self) -> Chooser:
        """Return the choice that drops given positions one by one."""
        return lambda depths, weights, most: thinned_positions(support_of(depths, weights), most)

"""What plans save as the law drifts, and what the theory allows them to lose.

The regret of a plan in a window is what the best plan for the law of that window saves beyond it,
in expectation under that law. A plan that is best for a law q and has m positions loses at most

    2 (N - m) TV(p, q)      and      4 (N - m) K(p, q)

under p, N being the deepest overlap of either (docs/placement.md, section 3). There m is the
budget M; a law of fewer depths than M has a best plan with as many positions as depths, of which
the same proof holds with m: no gap of m positions is wider than N - m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from policies.placement.staircase import solve
from policies.placement.support import expected_saving
from reports.drift.laws import Float64, Int64, deepest, distances
from reports.drift.planning import Plans
from reports.drift.windows import Windows
from simulator.plugins.protocols import Law

RECOVERED = 0.95  # of what the best plan saves


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What one placer did in each window that counts; all of shape (windows,).

    Parameters
    ----------
    saved_tokens
        What its requests saved with the plans in force for them.
    regret_tokens
        Tokens a request that the plan in force when the window begins would lose, kept through it.
    variation_bound_tokens, kolmogorov_bound_tokens
        The most that this can be, by either distance.
    plans, rewritten
        New plans in the window, and their positions that the plan before had not.
    """

    saved_tokens: Float64
    regret_tokens: Float64
    variation_bound_tokens: Float64
    kolmogorov_bound_tokens: Float64
    plans: Int64
    rewritten: Int64


def best_plans(laws: Sequence[Law], budget: int, windows: Windows) -> Plans:
    """Return the plans of a placer that is told the law of each window when it begins."""
    positions = [solve(law.depths, law.weights, budget).positions() for law in laws]
    starts = np.arange(windows.count) * windows.width
    return Plans(starts, tuple(np.array(p, np.int64) for p in positions), tuple(laws))


def course(
    plans: Plans, best: Plans, depths: Int64, windows: Windows, laws: Sequence[Law]
) -> Course:
    """Evaluate plans in each window that counts.

    Parameters
    ----------
    plans
        With the law of the plan in force at the beginning of each window.
    best
        Those of `best_plans`.
    depths
        Overlaps in order, shape (requests,).
    laws
        The law of each window, as probabilities.
    """
    used = slice(windows.start(windows.first), windows.start(windows.count))
    saved = plans.saved_tokens(depths)[used].reshape(-1, windows.width).sum(axis=1)
    regrets = [_regret(plans, best, windows.start(k), laws[k]) for k in windows.counted]
    bounds = [_bounds(plans, windows.start(k), laws[k], plans.laws[k]) for k in windows.counted]
    variation, kolmogorov = np.array(bounds).T
    where = np.minimum(plans.starts // windows.width, windows.count)
    made = np.bincount(where, minlength=windows.count + 1)
    written = np.bincount(where, weights=plans.rewritten, minlength=windows.count + 1)
    counted = slice(windows.first, windows.count)
    return Course(
        saved.astype(np.float64),
        np.array(regrets),
        variation,
        kolmogorov,
        made[counted],
        written[counted].astype(np.int64),
    )


def recovery_requests(plans: Plans, law: Law, budget: int, since: int) -> int | None:
    """Return how long after a request a plan saves 95 % of the best again, under the law since.

    None where no plan does. 0 where the plan in force then does already.
    """
    enough = RECOVERED * float(solve(law.depths, law.weights, budget).savings_by_budget[-1])
    first = int(plans.starts.searchsorted(since, side="right")) - 1
    for start, positions in zip(plans.starts[first:], plans.positions[first:], strict=True):
        if expected_saving(law.depths, law.weights, positions.tolist()) >= enough:
            return max(0, int(start) - since)
    return None


def _regret(plans: Plans, best: Plans, request: int, law: Law) -> float:
    ours, theirs = (
        expected_saving(law.depths, law.weights, each.at(request).tolist())
        for each in (plans, best)
    )
    return max(0.0, theirs - ours)


def _bounds(plans: Plans, request: int, law: Law, planned_for: Law) -> tuple[float, float]:
    """Return the most that the plan in force can lose, by total variation and by Kolmogorov."""
    variation, kolmogorov = distances(law, planned_for)
    length = deepest(law, planned_for)
    held = int(np.count_nonzero(plans.at(request) <= length))
    return 2 * (length - held) * variation, 4 * (length - held) * kolmogorov

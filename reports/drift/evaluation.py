"""Savings and regret of plans as the law of overlaps drifts, and bounds of the regret.

The law is the distribution of overlap depths. The regret of a plan in a window is the expected
saving of the best plan for the window's law less that of the plan, both under that law. A plan of m
positions that is best for a law q loses at most

    2 (N - m) TV(p, q)      and      4 (N - m) K(p, q)

tokens a request under a law p, where TV is the total variation distance, K the Kolmogorov distance
and N the deepest overlap of p and q (docs/placement.md, section 3). There, m is the budget M. Where
a law has fewer depths than M, its best plan has one position a depth, and the same proof holds with
their number as m: no gap between m positions is wider than N - m.
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
    """The savings and plans of one placer in each window that counts; arrays of shape (windows,).

    Parameters
    ----------
    saved_tokens
        Tokens saved by the window's requests, each with the plan in force when it arrived.
    regret_tokens
        Expected loss, in tokens a request, of the plan in force when the window begins.
    variation_bound_tokens, kolmogorov_bound_tokens
        Upper bounds of the regret from each of the two distances.
    plans, rewritten
        The number of new plans in the window, and of their positions that the plan before lacked.
    """

    saved_tokens: Float64
    regret_tokens: Float64
    variation_bound_tokens: Float64
    kolmogorov_bound_tokens: Float64
    plans: Int64
    rewritten: Int64


def best_plans(laws: Sequence[Law], budget: int, windows: Windows) -> Plans:
    """Return the plans of a placer that knows the law of each window when the window begins."""
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
        The plans, with the law that the plan in force at the start of each window was made for.
    best
        The plans of `best_plans`.
    depths
        Overlaps in tokens, in order, shape (requests,).
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
    """Return how many requests after request `since` a plan reaches 95 % of the best saving.

    Savings are expected ones under `law`, the law after `since`. 0 where the plan in force then
    reaches it already, None where no plan does.
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
    """Return the bounds of the regret of the plan in force, from total variation and Kolmogorov."""
    variation, kolmogorov = distances(law, planned_for)
    length = deepest(law, planned_for)
    held = int(np.count_nonzero(plans.at(request) <= length))
    return 2 * (length - held) * variation, 4 * (length - held) * kolmogorov

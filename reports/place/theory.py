"""Theory of a law (distribution) of overlap depths; docs/placement.md has the proofs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.placement.priced import budget_at_price
from policies.placement.staircase import solve
from policies.placement.support import expected_saving
from reports.place.law_file import DepthLaw

CONFIDENCE = 0.95
ROUNDING = 1e-12


def elbow(curve: NDArray[np.float64]) -> dict[str, Any] | None:
    """Return the elbow of the savings curve: the best budget at the mean gain as price."""
    if len(curve) < 2 or curve[-1] <= 0:
        return None
    useful = int((np.diff(curve) > 0).sum())
    price = float(curve[useful] / useful)
    bought = budget_at_price(curve, price * (1 - ROUNDING))
    return {
        "price_tokens": price,
        "budget": bought,
        "expected_saved_tokens": float(curve[bought]),
    }


def uniform(law: DepthLaw, length: int, budget: int) -> dict[str, Any]:
    """Return the best plan for overlaps uniform on 1..N, and what it saves under `law`."""
    n, k = length, min(budget, length) + 1
    positions = [i * (n + 1) // k for i in range(1, k)]
    q, r = divmod(n + 1, k)
    return {
        "positions": positions,
        "expected_saved_tokens": expected_saving(law.depths, law.weights, positions) / law.total,
        "mean_gap_tokens_if_uniform": (r * (q + 1) * q / 2 + (k - r) * q * (q - 1) / 2) / n,
        "worst_gap_tokens": -(-(n + 1) // k) - 1,
    }


def bounds(law: DepthLaw, length: int, budget: int) -> dict[str, Any] | None:
    """Return an upper bound of what a plan made from this many requests loses to the best plan.

    The bound holds with 95 % confidence; it follows from the Kolmogorov distance between the
    empirical and the true distribution. None without counted requests or without a budget.
    """
    samples = law.samples
    if samples is None or not budget:
        return None
    span = max(length - budget, 0)
    distance = math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * samples))
    return {
        "requests": samples,
        "confidence": CONFIDENCE,
        "kolmogorov_distance": distance,
        "lost_tokens_at_most": 4 * span * distance,
        "vacuous": 4 * span * distance >= length,
    }


def hold_out(law: DepthLaw, length: int, budget: int) -> dict[str, Any] | None:
    """Plan for the first half of the requests; return what the plan loses on the second half."""
    in_order = law.in_order
    if in_order is None or len(in_order) < 4 or not budget:
        return None
    half = len(in_order) // 2
    support = law.depths
    train, test = (_shares(part, support) for part in (in_order[:half], in_order[half:]))
    plan = solve(support, train, budget).positions()
    best = float(solve(support, test, budget).savings_by_budget[-1])
    saved = expected_saving(support, test, plan)
    span = max(length - len(plan), 0)  # fewer positions leave longer gaps
    misses = abs(float(train.sum()) - float(test.sum()))
    variation = (float(np.abs(train - test).sum()) + misses) / 2
    tails = np.cumsum((train - test)[::-1])
    distance = float(np.abs(tails).max(initial=0.0))
    return {
        "planned_on_requests": half,
        "tested_on_requests": len(in_order) - half,
        "positions": plan,
        "expected_saved_tokens": saved,
        "best_saved_tokens": best,
        "lost_tokens": best - saved,
        "total_variation": variation,
        "lost_tokens_at_most_by_total_variation": 2 * span * variation,
        "kolmogorov_distance": distance,
        "lost_tokens_at_most_by_kolmogorov_distance": 4 * span * distance,
    }


def _shares(depths: NDArray[np.int64], support: NDArray[np.int64]) -> NDArray[np.float64]:
    hits = depths[depths > 0]
    counts = np.bincount(support.searchsorted(hits), minlength=len(support))
    return counts / len(depths)

"""The bounds on plans made for the wrong law, and examples that attain them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.placement.greedy import greedy_positions
from policies.placement.staircase import solve
from policies.placement.support import expected_saving, support_of

Law = NDArray[np.float64]


def gap(law: Law, positions: list[int]) -> float:
    """Return the expected tokens between overlap and resume point; `law` is of 1..N."""
    depths = np.arange(1, len(law) + 1)
    return float(depths @ law) - expected_saving(depths, law, positions)


def least_gap(law: Law, budget: int) -> float:
    return gap(law, solve(np.arange(1, len(law) + 1), law, budget).positions())


def total_variation(p: Law, q: Law) -> float:
    return float(np.abs(p - q).sum()) / 2


@pytest.mark.parametrize(("n", "budget"), [(8, 1), (9, 3), (20, 7), (5, 5)])
def test_the_lipschitz_bound_is_attained(n: int, budget: int) -> None:
    # p lies on the first M depths, evenly, so M checkpoints lose nothing. Moving t to the last
    # depth costs t (N - M), as long as that is no reason to give up one of the others.
    t = 1 / (1 + budget * (n - budget))
    p, q = np.zeros(n), np.zeros(n)
    p[:budget] = 1 / budget
    q[:budget] = (1 - t) / budget
    q[-1] += t
    assert least_gap(p, budget) == pytest.approx(0.0)
    moved = total_variation(p, q)
    assert least_gap(q, budget) == pytest.approx((n - budget) * moved)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_the_plug_in_bound_is_attained(n: int) -> None:
    # With M = N - 1 one depth goes without. Under q the last two are equally light; p differs by
    # t, and the plan that leaves out the wrong one loses 2 t = 2 (N - M) TV.
    t, light = 0.2 / n, 0.5 / n
    p = np.full(n, (1 - 2 * light) / max(n - 2, 1))
    q = p.copy()
    if n == 2:
        light, t = 0.5, 0.1
    q[-2:], p[-2:] = light, (light - t, light + t)
    everything = list(range(1, n + 1))
    wrong, right = everything[:-1], [*everything[:-2], n]
    assert gap(q, wrong) == pytest.approx(gap(q, right)) == pytest.approx(least_gap(q, n - 1))
    assert gap(p, right) == pytest.approx(least_gap(p, n - 1))
    regret = gap(p, wrong) - gap(p, right)
    assert regret == pytest.approx(2 * total_variation(p, q))


def test_the_kolmogorov_bound_of_one_plan_is_attained() -> None:
    # |gap_p(C) - gap_q(C)| <= 2 (N - M) K, K the greatest distance of the distribution functions
    # over 0..N: the gap as a function of the depth rises and falls by N - M in all.
    p, q, k = np.array([0.6, 0.2]), np.array([0.2, 0.4]), 0.2
    misses = 1 - p.sum(), 1 - q.sum()
    cdf_p, cdf_q = np.cumsum([misses[0], *p]), np.cumsum([misses[1], *q])
    assert np.abs(cdf_p - cdf_q).max() == pytest.approx(k)
    assert abs(gap(p, [2]) - gap(q, [2])) == pytest.approx(2 * (2 - 1) * k)


def test_a_sample_keeps_the_kolmogorov_bound() -> None:
    rng = np.random.default_rng(1)
    n, budget, size, delta = 40, 3, 2_000, 0.05
    bound = 4 * (n - budget) * np.sqrt(np.log(2 / delta) / (2 * size))
    worst = 0.0
    for _ in range(100):
        law = rng.dirichlet(np.full(n, 0.3))
        counts = np.bincount(rng.choice(n, size, p=law), minlength=n)
        plan = solve(np.arange(1, n + 1), counts, budget).positions()
        worst = max(worst, gap(law, plan) - least_gap(law, budget))
    assert 0 < worst <= bound


@pytest.mark.parametrize(("n", "budget"), [(10, 3), (11, 3), (7, 7), (100, 9)])
def test_the_uniform_optimum_in_closed_form(n: int, budget: int) -> None:
    k = budget + 1
    q, r = divmod(n + 1, k)
    value = (r * (q + 1) * q // 2 + (k - r) * q * (q - 1) // 2) / n
    assert least_gap(np.full(n, 1 / n), budget) == pytest.approx(value)


def test_greedy_can_fall_short_but_not_by_much() -> None:
    # First the middle, which both of the best two surround.
    depths, weights = [2, 3, 4], [3.0, 0.4, 2.6]
    best = solve(depths, weights, 2).savings_by_budget[2]
    greedy = greedy_positions(support_of(depths, weights), 2)
    share = expected_saving(depths, weights, greedy) / best
    assert 1 - 1 / np.e <= share <= 1
    rng = np.random.default_rng(2)
    worst = 1.0
    for _ in range(2_000):
        size = int(rng.integers(3, 7))
        weights = rng.random(size) ** 4
        depths = np.sort(rng.choice(30, size, replace=False)) + 1
        budget = int(rng.integers(2, 4))
        saving = expected_saving(
            depths, weights, greedy_positions(support_of(depths, weights), budget)
        )
        worst = min(worst, saving / solve(depths, weights, budget).savings_by_budget[budget])
    assert 1 - 1 / np.e <= worst < 0.98

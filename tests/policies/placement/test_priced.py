"""Placement at a price, and a budget shared by many prefixes, against brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from policies.placement.joint import allocate
from policies.placement.priced import budget_at_price, priced_positions
from policies.placement.staircase import solve
from policies.placement.support import expected_saving

POTENTIALS = (None, lambda x: 0.1 * x + x**2 / 7.0, lambda x: np.minimum(x, 5.0))


def test_a_price_buys_what_brute_force_buys() -> None:
    rng = np.random.default_rng(1)
    for trial in range(5_000):
        size = int(rng.integers(1, 6))
        depths = np.sort(rng.choice(9, size, replace=False)) + 1
        weights = rng.choice([0.0, 1.0, 1.0, float(rng.random())], size)
        potential = POTENTIALS[trial % 3]
        price = [0.0, 1.0, float(rng.random() * 8)][int(rng.integers(3))]
        positions = priced_positions(depths, weights, price, potential)
        gains = (potential or np.asarray)(np.concatenate(([0], depths)).astype(float))
        gain = (gains[1:] - gains[0]).tolist()
        survival = weights[::-1].cumsum()[::-1].tolist()
        best = 0.0
        for count in range(1, size + 1):
            for chosen in combinations(range(size), count):
                steps = zip([0.0, *(gain[i] for i in chosen)], chosen, strict=False)
                saved = sum((gain[i] - before) * survival[i] for before, i in steps)
                best = max(best, saved - price * count)
        worth = expected_saving(depths, weights, positions, potential) - price * len(positions)
        assert worth == pytest.approx(best, rel=1e-12, abs=1e-12)


def test_a_price_is_the_budget_where_the_marginal_gain_falls_below_it() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        depths = np.sort(rng.choice(1_000, 50, replace=False)) + 1
        weights = rng.random(50)
        curve = solve(depths, weights, 50).savings_by_budget
        price = float(rng.random() * curve[1] / 4)
        positions = priced_positions(depths, weights, price)
        assert len(positions) == budget_at_price(curve, price)
        assert expected_saving(depths, weights, positions) == pytest.approx(curve[len(positions)])


def test_prices_at_the_ends() -> None:
    assert priced_positions([3, 9], [1, 1], 0.0) == [3, 9]
    assert priced_positions([3, 9], [1, 1], float("inf")) == []
    assert priced_positions([], [], 1.0) == []
    assert priced_positions([10_000_000], [1.0], 9_999_999.0) == [10_000_000]
    assert priced_positions([10_000_000], [1.0], 10_000_000.0) == []  # it gains nothing
    assert budget_at_price([0.0, 4.0, 5.2], 0.0) == 2
    assert budget_at_price([0.0], 1.0) == 0
    for price in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="price"):
            budget_at_price([0.0, 1.0], price)


def concave(rng: np.random.Generator, longest: int) -> list[float]:
    gains = np.sort(rng.choice([0.0, 1.0, 2.0, float(rng.random() * 3)], rng.integers(longest)))
    return [0.0, *np.cumsum(gains[::-1]).tolist()]


def test_a_shared_budget_equals_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5_000):
        curves = [concave(rng, 5) for _ in range(int(rng.integers(1, 4)))]
        budget = int(rng.integers(0, 60))
        plan = allocate(curves, 7, budget)
        counts = plan.checkpoints.tolist()
        best = max(
            sum(curve[k] for curve, k in zip(curves, ks, strict=True))
            for ks in product(*(range(len(curve)) for curve in curves))
            if 7 * sum(ks) <= budget
        )
        assert plan.saving == plan.bound == pytest.approx(best)
        assert sum(c[k] for c, k in zip(curves, counts, strict=True)) == pytest.approx(best)
        assert plan.used_bytes == 7 * sum(counts) <= budget


def test_each_prefix_alone_buys_the_same_at_the_shared_price() -> None:
    curves = [[0.0, 5.0, 8.0, 9.0], [0.0, 4.0, 6.5]]
    plan = allocate(curves, 100, 350)
    assert plan.checkpoints.tolist() == [2, 1]
    assert plan.price == 0.025
    assert [budget_at_price(curve, 100 * plan.price) for curve in curves] == [2, 1]


def test_states_of_several_sizes_come_with_a_bound() -> None:
    rng = np.random.default_rng(4)
    for _ in range(500):
        curves = [concave(rng, 4) for _ in range(3)]
        sizes = rng.integers(1, 9, 3).tolist()
        budget = int(rng.integers(0, 40))
        plan = allocate(curves, sizes, budget)
        best = max(
            sum(curve[k] for curve, k in zip(curves, ks, strict=True))
            for ks in product(*(range(len(curve)) for curve in curves))
            if sum(k * size for k, size in zip(ks, sizes, strict=True)) <= budget
        )
        counts = plan.checkpoints.tolist()
        spent = sum(k * size for k, size in zip(counts, sizes, strict=True))
        assert plan.used_bytes == spent <= budget
        assert sum(c[k] for c, k in zip(curves, counts, strict=True)) == pytest.approx(plan.saving)
        assert plan.saving <= best + 1e-9 <= plan.bound + 2e-9


@pytest.mark.parametrize(
    ("curve", "size", "budget", "message"),
    [
        ([0.0, 1.0, 3.0], 1, 1, "concave"),
        ([0.0, -1.0], 1, 1, "non-decreasing"),
        ([0.0, float("nan")], 1, 1, "finite"),
        ([], 1, 1, "from 0 checkpoints on"),
        ([0.0, 1.0], 0, 1, "state_bytes"),
        ([0.0, 1.0], 1, -1, "budget_bytes"),
    ],
)
def test_bad_curves_are_named(curve: list[float], size: int, budget: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        allocate([curve], size, budget)


def test_no_prefix_at_all() -> None:
    assert allocate([], 1, 10).saving == 0.0

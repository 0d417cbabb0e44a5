"""The tree solvers against brute force over all sets."""

from __future__ import annotations

import numpy as np
import pytest

from policies.placement import tree_solver
from policies.placement.staircase import solve
from policies.placement.support import support_of
from policies.placement.tree_exact import exact_tree
from policies.placement.tree_greedy import extended_greedily
from policies.placement.tree_law import chain_law, tree_law
from policies.placement.tree_priced import priced_tree
from policies.placement.tree_solver import solve_tree
from tests.policies.placement.trees import (
    by_definition,
    number_of,
    numbers,
    random_tree,
    savings_of_all_sets,
)

CLOSE = {"rel": 1e-9, "abs": 1e-9}


def test_every_solver_equals_brute_force_or_bounds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_solver, "EXACT_CELLS", 0)
    rng = np.random.default_rng(1)
    exact_by_price = 0
    for trial in range(5_000):
        law = random_tree(rng, 6)
        savings, sizes = savings_of_all_sets(law)
        price = (0.0, 0.5, float(rng.random() * 6), float(rng.integers(1, 5)))[trial % 4]
        chosen = priced_tree(law, price)
        saving = savings[number_of(chosen)]
        assert law.saving(chosen) == pytest.approx(saving, **CLOSE)
        worth = (savings - price * sizes).max()
        assert saving - price * chosen.sum() == pytest.approx(worth, **CLOSE)
        budget = int(rng.integers(0, len(law) + 2))
        optimum = savings[sizes <= budget].max()
        chosen = exact_tree(law, budget)
        assert chosen.sum() <= budget
        assert savings[number_of(chosen)] == pytest.approx(optimum, **CLOSE)
        plan = solve_tree(law, budget)
        assert plan.chosen.sum() <= budget
        assert savings[number_of(plan.chosen)] == pytest.approx(plan.saving, **CLOSE)
        assert plan.saving <= optimum + 1e-9
        assert plan.bound >= optimum - 1e-9
        exact_by_price += plan.saving >= optimum - 1e-9
        greedy = extended_greedily(law, np.zeros(len(law), np.bool_), budget)
        assert greedy.sum() <= budget
        assert law.saving(greedy) >= (1 - 1 / np.e) * optimum - 1e-9
    assert exact_by_price > 4_500  # of 5,000: the bound tells where it may not be


def test_savings_of_all_sets_are_those_by_definition() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        law = random_tree(rng, 6)
        savings, sizes = savings_of_all_sets(law)
        chosen = rng.random(len(law)) < 0.5
        number = number_of(chosen)
        assert savings[number] == pytest.approx(by_definition(law, numbers(chosen)))
        assert sizes[number] == chosen.sum()


def test_a_chain_is_the_staircase() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        size = int(rng.integers(1, 40))
        depths = np.sort(rng.choice(500, size, replace=False)) + 1
        weights = rng.random(size) ** 2
        law = chain_law(support_of(depths, weights))
        curve = solve(depths, weights, size).savings_by_budget
        budget = int(rng.integers(0, size + 1))
        plan = solve_tree(law, budget)
        assert plan.saving == pytest.approx(curve[budget], **CLOSE)
        assert plan.bound == pytest.approx(curve[budget], **CLOSE)


def test_savings_on_a_tree_need_not_be_concave() -> None:
    # One state above three branches saves 3 * 1, one in a branch 1.5; three branches save 4.5.
    law = tree_law(
        np.array([-1, 0, 0, 0], np.int32), np.array([1, 1.5, 1.5, 1.5]), np.array([0, 1.0, 1, 1])
    )
    savings = [law.saving(exact_tree(law, budget)) for budget in range(5)]
    assert savings == [0.0, 3.0, 3.5, 4.5, 4.5]


def test_by_price_the_distance_from_the_optimum_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tree_solver, "EXACT_CELLS", 0)
    rng = np.random.default_rng(3)
    for _ in range(20):
        law = random_tree(rng, 60)
        budget = int(rng.integers(1, len(law) + 1))
        plan = solve_tree(law, budget)
        optimum = law.saving(exact_tree(law, budget))
        assert plan.saving <= optimum + 1e-9 <= plan.bound + 2e-9
        assert plan.bound - plan.saving <= plan.price * budget + 1e-9


def test_sets_of_equal_saving_and_rounding_make_no_negative_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tree_solver, "EXACT_CELLS", 0)
    weight = 0.47517530196465485  # all of it ends at the last candidate: those above are no use
    law = tree_law(
        np.array([-1, -1, 0, 2], np.int32),
        np.array([1.0, 1.0, 2.0, 6.0]),
        np.array([0.0, 1.0, 0.0, weight]),
    )
    plan = solve_tree(law, 3)
    assert plan.saving == pytest.approx(1.0 + 6.0 * weight)
    assert plan.bound == pytest.approx(plan.saving)


def test_nothing_to_choose_from() -> None:
    empty = tree_law(np.empty(0, np.int32), np.empty(0), np.empty(0))
    assert len(solve_tree(empty, 3).chosen) == 0
    massless = tree_law(np.array([-1], np.int32), np.array([1.0]), np.array([0.0]))
    assert len(massless) == 0
    assert solve_tree(massless, 0).bound == 0.0


@pytest.mark.parametrize("price", [-1.0, float("nan")])
def test_a_price_that_is_none(price: float) -> None:
    law = random_tree(np.random.default_rng(0))
    with pytest.raises(ValueError, match="price: expected 0 or more"):
        priced_tree(law, price)


def test_a_price_of_zero_takes_all_and_of_infinity_none() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        law = random_tree(rng)
        assert law.saving(priced_tree(law, 0.0)) == pytest.approx(
            law.saving(np.ones(len(law), np.bool_))
        )
        assert not priced_tree(law, float("inf")).any()


@pytest.mark.parametrize(
    ("parent", "potentials", "weights", "message"),
    [
        ([0], [1.0], [1.0], "parent: expected each to stand before"),
        ([-1, 0], [2.0, 2.0], [1.0, 1.0], "potentials: expected finite numbers that rise"),
        ([-1], [float("nan")], [1.0], "potentials: expected"),
        ([-1], [1.0], [-1.0], "weights: expected finite"),
        ([-1], [1.0], [1.0, 2.0], "one length"),
    ],
)
def test_bad_trees_are_named(
    parent: list[int], potentials: list[float], weights: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tree_law(np.array(parent, np.int32), np.array(potentials), np.array(weights))

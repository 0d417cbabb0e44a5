"""The exact solver against brute force, and the facts it rests on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from policies.placement import staircase
from policies.placement.staircase import solve
from policies.placement.support import Potential, expected_saving, floored_tokens

POTENTIALS: dict[str, Potential | None] = {
    "tokens": None,
    "quadratic": lambda x: 0.1 * x + x**2 / 7.0,
    "concave with an offset": lambda x: np.sqrt(x) + 3.0,
    "steps of 3": floored_tokens(3),
    "flat from 5 on": lambda x: np.minimum(x, 5.0),
}
Random = tuple[NDArray[np.int64], NDArray[np.float64], int]


def random_law(rng: np.random.Generator) -> Random:
    """Return depths, weights (ties and zeros among them) and the longest prompt."""
    longest = int(rng.integers(1, 10))
    size = int(rng.integers(1, longest + 1))
    depths = np.sort(rng.choice(longest, size, replace=False)) + 1
    weights = rng.choice([0.0, 1.0, 1.0, 2.0, 0.1, float(rng.random())], size)
    return depths.astype(np.int64), weights, longest


def brute_force(
    depths: NDArray[np.int64],
    weights: NDArray[np.float64],
    longest: int,
    budget: int,
    potential: Potential | None,
) -> list[float]:
    """Return the greatest saving by budget, over all positions and not the support only."""
    best = [0.0]
    for size in range(1, budget + 1):
        savings = (
            expected_saving(depths, weights, chosen, potential)
            for chosen in combinations(range(1, longest + 1), size)
        )
        best.append(max(best[-1], *savings, 0.0))
    return best


@pytest.mark.parametrize("name", list(POTENTIALS))
def test_every_budget_equals_brute_force(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([7, len(name)])
    potential, budget = POTENTIALS[name], 3
    for trial in range(1000):
        depths, weights, longest = random_law(rng)
        best = brute_force(depths, weights, longest, budget, potential)
        monkeypatch.setattr(staircase, "DENSE_SUPPORT", 256 * (trial % 2))
        plan = solve(depths, weights, budget, potential)
        assert plan.savings_by_budget == pytest.approx(best, rel=1e-12, abs=1e-12)
        for m in range(budget + 1):
            positions = plan.positions(m)
            assert len(positions) <= m
            assert set(positions) <= set(depths.tolist())
            saving = expected_saving(depths, weights, positions, potential)
            assert saving == pytest.approx(best[m], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", list(POTENTIALS))
def test_a_truncated_law_is_answered_by_the_same_table(name: str) -> None:
    rng = np.random.default_rng([11, len(name)])
    potential, budget = POTENTIALS[name], 3
    for _ in range(150):
        depths, weights, longest = random_law(rng)
        plan = solve(depths, weights, budget, potential)
        limit = int(rng.integers(1, longest + 3))
        seen = np.minimum(depths, limit)
        best = brute_force(seen, weights, min(limit, longest), budget, potential)
        for m in range(budget + 1):
            positions = plan.positions(m, limit)
            assert len(positions) <= m
            assert all(a < b for a, b in pairwise([0, *positions, limit + 1]))
            saving = expected_saving(seen, weights, positions, potential)
            assert saving == pytest.approx(best[m], rel=1e-12, abs=1e-12)


def plain_recursion(
    depths: NDArray[np.int64], weights: NDArray[np.float64], budget: int
) -> list[float]:
    survival = weights[::-1].cumsum()[::-1]
    table = depths * survival
    best = [0.0, float(table.max())]
    for _ in range(budget - 1):
        lines = np.tril(table[None, :] - np.outer(survival, depths), -1)
        table = depths * survival + np.maximum(lines.max(axis=1), 0.0)
        best.append(max(best[-1], float(table.max())))
    return best


@pytest.mark.parametrize("size", [100, 256, 257, 700])
def test_large_supports_equal_the_plain_recursion(size: int) -> None:
    rng = np.random.default_rng(size)
    for weights in (rng.random(size), rng.integers(1, 3, size) * 1.0, rng.pareto(0.7, size)):
        depths = np.sort(rng.choice(200_000, size, replace=False)) + 1
        plan = solve(depths, weights, 24)
        best = plain_recursion(depths, weights, 24)
        assert plan.savings_by_budget == pytest.approx(best, rel=1e-9)
        assert expected_saving(depths, weights, plan.positions()) == pytest.approx(best[-1])


laws = st.lists(
    st.tuples(st.integers(1, 10**7), st.floats(0, 1e6) | st.sampled_from([0.0, 1.0])),
    min_size=1,
    max_size=40,
    unique_by=lambda pair: pair[0],
).map(sorted)
Pairs = list[tuple[int, float]]


@given(law=laws, dense=st.booleans())
def test_savings_are_monotone_and_concave_and_positions_ascend(law: Pairs, dense: bool) -> None:
    depths, weights = (list(column) for column in zip(*law, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staircase, "DENSE_SUPPORT", 256 if dense else 0)
        plan = solve(depths, weights, len(law) + 2)
    gains = np.diff(plan.savings_by_budget)
    assert (gains >= 0).all()
    assert (np.diff(gains) <= 1e-9 * plan.savings_by_budget[-1]).all()
    for budget in range(len(law) + 3):
        positions = plan.positions(budget)
        assert all(a < b for a, b in pairwise(positions))
        assert expected_saving(depths, weights, positions) == pytest.approx(
            plan.savings_by_budget[budget], rel=1e-9
        )


@given(law=laws)
def test_a_checkpoint_at_every_depth_saves_every_overlap(law: Pairs) -> None:
    depths, weights = (np.array(column) for column in zip(*law, strict=True))
    plan = solve(depths, weights, len(law))
    assert plan.savings_by_budget[-1] == pytest.approx(float(depths @ weights), rel=1e-9)


@given(law=laws, scale=st.floats(1e-100, 1e100))
def test_the_scale_of_the_weights_does_not_matter(law: Pairs, scale: float) -> None:
    depths, weights = (np.array(column) for column in zip(*law, strict=True))
    plan, scaled = solve(depths, weights, 4), solve(depths, weights * scale, 4)
    assert scaled.savings_by_budget / scale == pytest.approx(plan.savings_by_budget, rel=1e-9)


def costs(law: NDArray[np.float64], positions: list[int]) -> float:
    """Return the expected gap between overlap and resume point, for depths 1..len(law)."""
    depths = np.arange(1, len(law) + 1)
    return float(depths @ law) - expected_saving(depths, law, positions)


@settings(max_examples=200)
@given(
    raw=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=25),
    budget=st.integers(1, 6),
)
def test_the_optimum_moves_no_faster_than_the_law(
    raw: list[tuple[float, float]], budget: int
) -> None:
    p, q = (np.array(column) + 1e-3 for column in zip(*raw, strict=True))
    p, q = p / p.sum(), q / q.sum()
    n, depths = len(p), np.arange(1, len(p) + 1)
    budget = min(budget, n)
    plan_p, plan_q = (solve(depths, law, budget).positions() for law in (p, q))
    assert len(plan_p) == len(plan_q) == budget
    total_variation = float(np.abs(p - q).sum()) / 2
    sup = float(np.abs(np.cumsum(p - q)).max())
    span = n - budget
    slack = 1e-9
    assert abs(costs(p, plan_p) - costs(q, plan_q)) <= span * total_variation + slack
    assert costs(p, plan_q) <= costs(p, plan_p) + 2 * span * total_variation + slack
    assert costs(p, plan_q) <= costs(p, plan_p) + 4 * span * sup + slack


def test_the_bound_on_the_optimum_is_attained() -> None:
    depths = np.arange(1, 9)
    p, q = np.zeros(8), np.zeros(8)
    p[0] = 1.0  # all overlaps at 1, against half of them at 8: V goes from 0 to (8 - 1) / 2 at most
    q[[0, 7]] = 0.5, 0.5
    assert costs(p, solve(depths, p, 1).positions()) == 0
    assert costs(q, [1]) == 3.5 == (8 - 1) * 0.5


def test_the_published_counterexample() -> None:
    # The recursion as printed places the one checkpoint at 10, with a cost of 4.5.
    plan = solve([4, 7, 10], [0.6, 0.3, 0.1], 1)
    assert plan.positions() == [4]
    assert 4 * 0.6 + 7 * 0.3 + 10 * 0.1 - plan.savings_by_budget[1] == pytest.approx(1.5)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0]])
def test_a_law_without_mass_needs_no_checkpoint(weights: list[float]) -> None:
    plan = solve(range(1, len(weights) + 1), weights, 3)
    assert plan.positions() == plan.positions(2, 7) == []
    assert plan.savings_by_budget.tolist() == [0, 0, 0, 0]


def test_a_law_of_one_point() -> None:
    plan = solve([10_000_000], [1.0], 5)
    assert plan.positions() == [10_000_000]
    assert plan.positions(1, 9) == [9]
    assert plan.positions(0) == []


def test_weights_of_very_different_size_are_no_trouble() -> None:
    plan = solve([10, 20, 30, 40], [1e-300, 1e300, 1.0, 1e-300], 4)
    assert plan.positions(1) == [20]
    assert np.isfinite(plan.savings_by_budget).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve([3, 2], [1, 1], 1), "depths: expected ascending"),
        (lambda: solve([2, 2], [1, 1], 1), "depths: expected ascending"),
        (lambda: solve([0, 2], [1, 1], 1), "at least 1"),
        (lambda: solve([1, 2], [1], 1), "one length"),
        (lambda: solve([1, 2], [1, -1], 1), "weights: expected finite"),
        (lambda: solve([1, 2], [1, float("nan")], 1), "weights: expected finite"),
        (lambda: solve([1, 2], [1, float("inf")], 1), "weights: expected finite"),
        (lambda: solve([1, 2], [1e308, 1e308], 1), "weights: expected numbers whose savings"),
        (lambda: solve([1.5, 2], [1, 1], 1), "depths: expected whole numbers"),
        (lambda: solve([1], [1], -1), "budget: expected 0 or more"),
        (lambda: solve([1, 2], [1, 1], 1, lambda x: -1.0 * x), "potential: expected"),
        (lambda: solve([1, 2], [1, 1], 1, lambda x: x * np.inf), "potential: expected"),
        (lambda: solve([1], [1], 1).positions(2), "budget: expected 0 to 1, found 2"),
    ],
)
@pytest.mark.filterwarnings("ignore:(invalid value|overflow):RuntimeWarning")
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

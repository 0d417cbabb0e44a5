"""When seconds are a potential, and how far off they are when they are not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from calibration.catalogue import open_profile
from policies.placement.seconds import potential_error_seconds, prefill_seconds, saved_seconds
from policies.placement.staircase import solve
from policies.placement.support import expected_saving
from simulator.costs.cost_model import CostModel
from simulator.costs.schema import CostTable
from tests.simulator.prompts import toy_profile


def costs(n: tuple[int, ...], seconds: tuple[float, ...], pair_seconds: float = 0.0) -> CostModel:
    profile = toy_profile()
    table = CostTable(n=n, us=tuple(1e6 * s for s in seconds))
    prefill = replace(profile.prefill, F=table, e_us_per_pair=1e6 * pair_seconds)
    return CostModel(replace(profile, prefill=prefill))


def test_linear_prefill_with_pairs_is_a_potential_for_every_length() -> None:
    model = costs((1, 1000), (2.0, 2000.0), pair_seconds=0.01)
    depths = np.arange(0, 300)
    assert prefill_seconds(model)(depths) == pytest.approx(2.0 * depths + 0.01 * depths**2 / 2)
    for length in (300, 700):
        assert saved_seconds(model, length)(depths) == pytest.approx(prefill_seconds(model)(depths))
    assert potential_error_seconds(
        model, prefill_seconds(model), [10, 100, 999], depths[1:]
    ) == pytest.approx(0.0, abs=1e-9)


def test_a_constant_cost_a_pass_is_no_part_of_what_is_saved() -> None:
    model = costs((1, 101), (5.0, 105.0))  # F(n) = 4 + n
    depths = np.array([0, 10, 50])
    assert saved_seconds(model, 90)(depths) == pytest.approx([0, 10, 50])
    error = potential_error_seconds(model, prefill_seconds(model), [90], depths[1:])
    assert error == pytest.approx(4.0)


def test_a_late_token_costs_more_so_plans_move_deeper() -> None:
    depths = [100, 200]
    assert solve(depths, [1.0, 0.5], 1).positions() == [100]  # 1.5 * 100 against 0.5 * 200
    model = costs((1, 1000), (0.001, 1.0), pair_seconds=1.0)
    plan = solve(depths, [1.0, 0.5], 1, saved_seconds(model, 400))
    assert plan.positions() == [200]  # 1.5 * 100^2 / 2 against 0.5 * 200^2 / 2


def test_the_exact_potential_gives_the_best_plan_for_its_length() -> None:
    model = costs((1, 8, 9, 30), (1.0, 4.0, 9.0, 12.0), pair_seconds=0.05)
    rng = np.random.default_rng(1)
    for _ in range(100):
        length, budget = int(rng.integers(5, 14)), int(rng.integers(1, 3))
        weights = rng.random(length - 1)
        depths = np.arange(1, length)

        def seconds(positions: tuple[int, ...], weights=weights, length=length) -> float:
            resumes = [max((c for c in positions if c <= d), default=0) for d in range(1, length)]
            times = [model.prefill_seconds(resume, length) for resume in resumes]
            return float(weights @ (model.prefill_seconds(0, length) - np.array(times)))

        plan = solve(depths, weights, budget, saved_seconds(model, length))
        best = max(seconds(c) for c in combinations(range(1, length), budget))
        assert seconds(tuple(plan.positions())) == pytest.approx(best)


@pytest.mark.parametrize("name", ["qwen3.5-0.8b-h200", "qwen3.5-9b-h200"])
def test_a_real_profile_is_off_by_no_more_than_the_bound(name: str) -> None:
    model = CostModel(open_profile(name))
    rng = np.random.default_rng(2)
    depths = np.sort(rng.choice(20_000, 60, replace=False)) + 1
    weights = rng.random(60)
    weights /= weights.sum()
    lengths = [20_100, 24_000, 32_000]
    planned_for = saved_seconds(model, 24_000)
    assert (np.diff(planned_for(depths)) >= 0).all()
    off = potential_error_seconds(model, planned_for, lengths, depths)
    plan = solve(depths, weights, 4, planned_for).positions()
    for length in lengths:
        truth = saved_seconds(model, length)
        best = solve(depths, weights, 4, truth).savings_by_budget[-1]
        assert expected_saving(depths, weights, plan, truth) >= best - 2 * off - 1e-12

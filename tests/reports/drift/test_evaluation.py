"""Regret, the bounds on it, and recovery."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reports.drift.evaluation import best_plans, course, recovery_requests
from reports.drift.laws import Int64, empirical
from reports.drift.planning import Plans, follow
from reports.drift.windows import Windows

SAMPLE = st.lists(st.integers(0, 12), min_size=6, max_size=6)


@given(st.lists(SAMPLE, min_size=2, max_size=6), st.integers(1, 5))
def test_regret_never_exceeds_either_bound(samples: list[list[int]], budget: int) -> None:
    depths = np.array(samples).ravel()
    windows = Windows(6, len(samples), 1, 1)
    laws = [empirical(windows.of(depths, k)) for k in range(windows.count)]
    best = best_plans(laws, budget, windows)
    # each window has the plan that was the best one window before
    stale = Plans(best.starts, (best.positions[0], *best.positions[:-1]), (laws[0], *laws[:-1]))
    followed = course(stale, best, depths, windows, laws)
    assert (followed.regret_tokens <= followed.variation_bound_tokens + 1e-9).all()
    assert (followed.regret_tokens <= followed.kolmogorov_bound_tokens + 1e-9).all()
    perfect = course(best, best, depths, windows, laws)
    assert perfect.regret_tokens.max() == perfect.variation_bound_tokens.max() == 0


def test_a_law_of_fewer_depths_than_checkpoints_has_a_wider_bound() -> None:
    depths = np.array([5] * 6 + [4] * 6)
    windows = Windows(6, 2, 1, 1)
    laws = [empirical(windows.of(depths, k)) for k in range(2)]
    best = best_plans(laws, 4, windows)
    stale = Plans(best.starts, (best.positions[0],) * 2, (laws[0],) * 2)
    followed = course(stale, best, depths, windows, laws)
    assert followed.regret_tokens.tolist() == [4.0]  # beyond 2 (5 - 4) TV = 2: one position is held
    assert followed.variation_bound_tokens.tolist() == [8.0]


def test_clairvoyant_re_planning_saves_in_a_window_what_its_best_plan_saves() -> None:
    depths = np.array([3, 3, 7, 7, 2, 2, 2, 9])
    windows = Windows(4, 2, 0, 1)
    laws = [empirical(windows.of(depths, k)) for k in range(2)]
    best = best_plans(laws, 1, windows)
    followed = course(best, best, depths, windows, laws)
    assert followed.saved_tokens.tolist() == [14.0, 9.0]
    assert followed.rewritten.tolist() == [0, 1]
    assert followed.plans.tolist() == [1, 1]


def test_the_shortest_window_recovers_first() -> None:
    depths = np.repeat([1000, 557], 400)
    law = empirical(depths[400:])
    recovered = {
        window: recovery_requests(_window(window, depths), law, 1, 400)
        for window in (20, 50, 100, 200)
    }
    # 557 from everybody beats 1000 from the old once 44.3 % of a window are new
    assert recovered == {20: 9, 50: 23, 100: 45, 200: 89}
    kept = follow("optimal:budget=1,train=50", depths)
    assert recovery_requests(kept, law, 1, 400) is None
    assert recovery_requests(kept, empirical(depths[:400]), 1, 300) == 0


def _window(requests: int, depths: Int64) -> Plans:
    return follow(f"optimal:budget=1,window={requests},replan=1", depths)

"""Plans that follow a law, request by request."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.estimation import WindowEstimator
from policies.placement.staircase import solve
from reports.drift.laws import Int64
from reports.drift.planning import Plans, follow, parameters, reached
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law, Overlap


def test_a_window_changes_its_plan_as_soon_as_another_is_better() -> None:
    depths = np.repeat([100, 65], 40)
    # 65 from everybody beats 100 from the old once more than 35 % of a window, 4 of 10, are new
    plans = follow("optimal:budget=1,window=10,replan=1", depths)
    assert plans.starts.tolist() == [0, 1, 44]
    assert [each.tolist() for each in plans.positions[1:]] == [[100], [65]]
    assert plans.saved_tokens(depths)[38:47].tolist() == [100, 100, 0, 0, 0, 0, 65, 65, 65]
    assert plans.rewritten.tolist() == [0, 1, 1]


def test_every_plan_is_the_best_for_the_window_before_it() -> None:
    depths = np.random.default_rng(0).integers(0, 30, 200)
    plans = follow("optimal:budget=3,window=25,replan=7", depths, [0, 50, 150])
    assert len(plans.laws[0].depths) == 0
    for request, planned_for in zip((50, 150), plans.laws[1:], strict=True):
        law = _planned(depths, request)
        assert np.array_equal(planned_for.depths, law.depths)
        assert np.array_equal(planned_for.weights, law.weights)
        seen = np.repeat(law.depths, law.weights.astype(int))
        best = solve(law.depths, law.weights, 3).savings_by_budget[-1]
        assert reached(plans.at(request), seen).sum() == pytest.approx(best)


def _planned(depths: Int64, request: int) -> Law:
    """Return the law at the last look before a request: one a 7 requests, since the first hit."""
    first = int(np.flatnonzero(depths > 0)[0]) + 1
    last = first + (request - first) // 7 * 7
    window = WindowEstimator(25)
    for depth in depths[:last].tolist():
        window.observe(Overlap(depth, 29))
    return window.law()


@given(
    st.lists(st.lists(st.integers(1, 30), unique=True).map(sorted), min_size=1, max_size=5),
    st.lists(st.integers(0, 30), min_size=20, max_size=20),
)
def test_a_request_saves_the_deepest_position_that_it_reaches(
    positions: list[list[int]], depths: list[int]
) -> None:
    starts = np.arange(len(positions)) * 4
    plans = Plans(starts, tuple(np.array(each, np.int64) for each in positions))
    saved = plans.saved_tokens(np.array(depths))
    for request, depth in enumerate(depths):
        held = positions[min(request // 4, len(positions) - 1)]
        at = bisect_right(held, depth)
        assert saved[request] == (held[at - 1] if at else 0)
        assert plans.at(request).tolist() == held


def test_a_law_that_is_kept_keeps_its_plan() -> None:
    depths = np.repeat([100, 60], 200)
    plans = follow("optimal:budget=1,train=50", depths)
    assert plans.at(399).tolist() == [100]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("branch", "expected 'optimal:budget=...'"),
        ("optimal", "parameter 'budget' is missing"),
        ("optimal:budget=2,scope=label", "scope: expected global"),
        ("optimal:budget=2,coordinate=auto", "coordinate: expected start"),
    ],
)
def test_what_has_no_single_law_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parameters(spec)

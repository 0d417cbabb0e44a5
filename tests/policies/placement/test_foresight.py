"""Plans for predicted laws: used where they save more, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.estimation import Decay, Frozen
from policies.placement.foresight import ForesightView, saved_tokens
from policies.placement.staircase import solve
from policies.placement.views import LawView, Plan, PlannedPrompt
from policies.registry import create
from reports.drift.planning import follow
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law, Overlap
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.inspection import overlaps
from workloads.synthetic import SystemPrompts

TARGET = PlannedPrompt(1000, 0, 0, 1, -1, -1)


def plan(law: Law, step: int, phase: int) -> Plan:
    staircase = solve(law.depths, law.weights, 1)
    return lambda length, budget: staircase.positions(budget, length)


def teach(view: ForesightView, depths: list[int]) -> None:
    for depth in depths:
        if view.known:
            view.judge(TARGET, depth)
        view.observe(Overlap(depth, 1000))
        view.settle()


def both() -> ForesightView:
    """Return a view whose plain law follows the last depths; the other knows the first for good."""
    plain = LawView("start", "global", Decay(0.5), plan)
    return ForesightView(plain, LawView("start", "global", Frozen(1), plan), 1)


def test_what_a_plan_saves_is_the_deepest_position_reached() -> None:
    view = both()
    teach(view, [300])
    assert [saved_tokens(view, TARGET, 1, depth) for depth in (299, 300, 900)] == [0, 300, 300]


def test_a_prediction_is_used_once_it_has_saved_more_beyond_chance() -> None:
    view = both()
    teach(view, [500])
    teach(view, [500, 900] * 40)  # one that follows the last depths plans 900 for each 500
    assert not view.foresees
    teach(view, [500, 900] * 40)
    assert view.foresees
    assert view.law.depths.tolist() == [500]
    assert view.positions(TARGET, 1) == [500]


def test_a_prediction_that_saves_less_is_given_up() -> None:
    view = both()
    teach(view, [500] + [500, 900] * 100)
    teach(view, [400] * 300)
    assert not view.foresees
    assert view.positions(TARGET, 1) == [400]


def depths_of(drift: str, requests: int = 3000) -> NDArray[np.int64]:
    generator = SystemPrompts(count=8, openings=0)
    return overlaps(generator.trace(requests, 3, Poisson(1.0), read_drift(drift)))


def saved(spec: str, depths: NDArray[np.int64]) -> int:
    return int(
        follow(f"optimal:budget=4,decay=0.99{spec}", depths).saved_tokens(depths)[500:].sum()
    )


def test_a_trend_saves_more_where_prompts_grow() -> None:
    depths = depths_of("growth:factor=3,steps=64")
    assert saved(",predict=trend", depths) > 1.01 * saved("", depths)


@pytest.mark.parametrize("predict", ["trend", "period"])
@pytest.mark.parametrize("drift", ["", "births:times=3", "rewrites:times=2,moved=500"])
def test_it_loses_nothing_but_chance_elsewhere(predict: str, drift: str) -> None:
    depths = depths_of(drift)
    assert saved(f",predict={predict}", depths) >= 0.999 * saved("", depths)


@pytest.mark.parametrize("name", ["optimal", "greedy", "robust"])
def test_placers_take_a_prediction_in_every_coordinate(name: str) -> None:
    placer = create("placer", f"{name}:budget=2,decay=0.98,predict=trend,coordinate=auto")
    for depth in [30, 60] * 50:
        placer.observe(Overlap(depth, 100))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("decay=0.9,predict=luck", "predict: expected trend or period, found 'luck'"),
        ("predict=trend", "predict: expected decay beside it, found 'trend' alone"),
        ("predict=trend,window=50", "predict: expected decay beside it, found 'trend' alone"),
    ],
)
def test_a_prediction_needs_a_name_and_decay(parameters: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create("placer", f"optimal:budget=2,{parameters}")

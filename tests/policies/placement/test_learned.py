"""`optimal` and `greedy`: what they learn, and when."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.placement.staircase import solve
from policies.placement.support import expected_saving
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Overlap, Placer
from tests.contracts.prefixes import build_prefix, place
from tests.contracts.test_placers import SPECS

BOTH = pytest.mark.parametrize("name", ["optimal", "greedy"])
LENGTH = 50


def teach(placer: Placer, *depths: int, prompt_tokens: int = 10_000) -> None:
    for depth in depths:
        placer.observe(Overlap(depth, prompt_tokens))


def placed(placer: Placer, length: int = LENGTH, resume: int = 0, step: int = 1) -> list[int]:
    return list(place(placer, build_prefix([length], resume=resume, step=step)))


@BOTH
def test_it_is_balanced_until_an_overlap_was_seen(name: str) -> None:
    placer = create("placer", f"{name}:budget=3")
    balanced = placed(create("placer", "balanced:budget=3"))
    assert placed(placer) == balanced
    teach(placer, 0, 0)
    assert placed(placer) == balanced
    teach(placer, 20)
    assert placed(placer) == [20]


@BOTH
def test_it_plans_again_every_replan_observations(name: str) -> None:
    placer = create("placer", f"{name}:budget=9,replan=3")
    teach(placer, 20)
    teach(placer, 30, 31)
    assert placed(placer) == [20]
    teach(placer, 32)
    assert placed(placer) == [20, 30, 31, 32]


@BOTH
def test_window_decay_and_train_forget_differently(name: str) -> None:
    window, decay, train = (
        create("placer", f"{name}:budget=1,replan=1,{how}")
        for how in ("window=2", "decay=0.5", "train=2")
    )
    for placer in (window, decay, train):
        teach(placer, 40, 40, 10, 10, 10)
    assert placed(window) == [10]  # knows nothing else
    assert placed(decay) == [10]  # 40 weighs .125 + .0625: 7.5 for it, 10 * 1.94 for 10
    assert placed(train) == [40]  # learned no more after two


@BOTH
def test_what_lies_before_the_resume_point_is_not_placed_again(name: str) -> None:
    placer = create("placer", f"{name}:budget=3,replan=1")
    teach(placer, 10, 20, 30)
    assert placed(placer, resume=9) == [10, 20, 30]
    assert placed(placer, resume=10) == [20, 30]
    assert placed(placer, resume=30) == []


@BOTH
def test_deeper_overlaps_count_as_the_whole_prompt(name: str) -> None:
    placer = create("placer", f"{name}:budget=1,replan=1")
    teach(placer, 100, 200, 300)
    assert placed(placer, length=90) == [90]
    assert placed(placer, length=150) == [100]  # 100 for all, or 150 for two of three: a tie
    assert placed(placer, length=160) == [160]


def test_depths_that_floor_to_one_position_are_one() -> None:
    depths = [64, 70, 100, 127, 130, 190, 200]
    placer = create("placer", "optimal:budget=2,replan=1")
    teach(placer, *depths)
    for length in (300, 150, 129):
        floored = [p - p % 64 for p in placed(placer, length, step=64)]
        seen = np.minimum(depths, length)
        best = max(
            expected_saving(seen, np.ones(7), pair) for pair in combinations([64, 128, 192], 2)
        )
        assert expected_saving(seen, np.ones(7), floored) == best
        assert len(set(floored)) == len(floored)


@settings(max_examples=80)
@given(
    depths=st.lists(st.integers(1, LENGTH + 10), min_size=1, max_size=40),
    length=st.integers(1, LENGTH),
)
def test_optimal_beats_or_ties_every_other_placer_on_its_own_law(
    depths: list[int], length: int
) -> None:
    support, weights = np.unique(depths, return_counts=True)
    plan = solve(support, weights, LENGTH)
    seen = np.minimum(support, length)
    for spec in SPECS:
        placer = create("placer", spec)
        teach(placer, *depths)
        positions = placed(placer, length)
        ours = plan.positions(len(positions), length)
        saving = expected_saving(seen, weights, positions)
        assert saving <= expected_saving(seen, weights, ours) * (1 + 1e-12), spec
    optimal = create("placer", "optimal:budget=4,replan=1")
    teach(optimal, *depths)
    assert placed(optimal, length) == plan.positions(4, length)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("budget=0", "budget: expected 1 or more, found 0"),
        ("budget=1,replan=0", "replan: expected 1 or more, found 0"),
        ("budget=1,window=0", "window: expected 1 to 1000000, found 0"),
        ("budget=1,decay=1", "decay: expected above 0 and at most 0.9999, found 1.0"),
        ("budget=1,train=0", "train: expected 1 to 1000000, found 0"),
        ("budget=1,decay=.9,train=5", "one of window, decay and train, found decay and train"),
        ("budget=1,window=5,train=5", "one of window, decay and train, found window and train"),
    ],
)
@BOTH
def test_bad_parameters_are_named(name: str, parameters: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create("placer", f"{name}:{parameters}")

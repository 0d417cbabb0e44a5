"""A margin before the divergences that were seen."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.placement.robust import Robust, smoothed
from policies.placement.support import expected_saving
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Overlap
from tests.contracts.prefixes import build_prefix, place

Depths = list[NDArray[np.int64]]


def test_weight_is_spread_evenly_before_each_depth() -> None:
    depths, weights = smoothed(np.array([4, 10]), np.array([3.0, 6.0]), 2)
    assert dict(zip(depths.tolist(), weights.tolist(), strict=True)) == {
        2: 1.0, 3: 1.0, 4: 1.0, 8: 2.0, 9: 2.0, 10: 2.0,
    }  # fmt: skip
    assert smoothed(np.array([1]), np.array([4.0]), 3)[1].tolist() == [1.0]  # the rest are misses
    depths, weights = smoothed(np.array([1000]), np.array([1.0]), 320, 64)
    assert depths.tolist() == [680, 744, 808, 872, 936, 1000]
    assert len(smoothed(np.array([10**7]), np.array([1.0]), 10**6)[0]) == 17


def test_its_plan_is_the_best_over_all_shifts() -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        margin, budget = int(rng.integers(0, 4)), int(rng.integers(1, 4))
        seen = rng.integers(1, 12, 12).tolist()
        placer = Robust(budget=budget, margin=margin, replan=1)
        for depth in seen:
            placer.observe(Overlap(depth, 12))

        shifted = [np.maximum(np.array(seen) - shift, 0) for shift in range(margin + 1)]

        def worth(positions: tuple[int, ...], depths: Depths = shifted) -> float:
            return sum(expected_saving(d, np.ones(len(d)), positions) for d in depths)

        best = max(worth(c) for c in combinations(range(1, 13), budget))
        placed = tuple(place(placer, build_prefix([12])))
        assert len(placed) <= budget
        assert worth(placed) == pytest.approx(best)


def test_without_a_margin_it_is_optimal() -> None:
    rng = np.random.default_rng(2)
    robust, optimal = (
        create("placer", s) for s in ("robust:budget=3,margin=0", "optimal:budget=3")
    )
    for depth in rng.integers(0, 900, 60).tolist():
        robust.observe(Overlap(depth, 1000))
        optimal.observe(Overlap(depth, 1000))
        prefix = build_prefix([1000], step=16)
        assert list(place(robust, prefix)) == list(place(optimal, prefix))


def test_from_the_end_it_follows_the_length_of_the_prompt() -> None:
    placer = create("placer", "robust:budget=1,margin=10,coordinate=end")
    for length in (500, 800, 300):
        placer.observe(Overlap(length - 40, length))  # a question of 40 tokens behind a document
    placer.observe(Overlap(0, 700))
    # All of the margin is worth less than the depth that it would cost 10 of 11 overlaps.
    assert list(place(placer, build_prefix([2000]))) == [2000 - 40 - 10]
    assert list(place(placer, build_prefix([120]))) == [120 - 40 - 10]
    assert list(place(placer, build_prefix([30]))) == []  # no prompt this short was shared


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("robust:budget=2,margin=-1", "margin: expected 0 to 1000000"),
        ("robust:budget=2,coordinate=middle", "coordinate: expected start, end, branch or auto"),
        ("robust:budget=0", "budget: expected 1"),
    ],
)
def test_bad_parameters_are_named(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create("placer", spec)

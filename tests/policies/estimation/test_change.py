"""Change detection: an exact level without drift, and power with it."""

from __future__ import annotations

import numpy as np
import pytest

from policies.estimation.change import ChangeDetector, distance, p_value
from policies.registry import create
from simulator.plugins.protocols import Overlap
from tests.contracts.prefixes import build_prefix, place


def test_the_distance_by_hand() -> None:
    one, other = np.array([1, 2, 3, 4]), np.array([3, 4, 4, 5])
    assert distance(one, other) == pytest.approx(0.5)  # below 3: 2/4 against 0
    assert distance(one, one) == 0.0
    assert distance(np.array([1]), np.array([2])) == 1.0


def test_equal_samples_are_no_evidence_and_disjoint_ones_are() -> None:
    one = np.arange(50)
    assert p_value(one, one) == 1.0
    assert p_value(one, one + 1000) == 1 / 200


def test_without_drift_the_level_is_kept_on_a_large_support() -> None:
    # 2,048 atoms, 100 samples: the total variation of such samples is 0.95, drift or none.
    rng = np.random.default_rng(0)
    alarms = sum(
        p_value(rng.integers(2048, size=100), rng.integers(2048, size=100), 99, seed) <= 0.05
        for seed in range(400)
    )
    assert alarms <= 35  # 20 expected; 35 is beyond 3.4 standard deviations


def test_a_shift_is_found() -> None:
    rng = np.random.default_rng(1)
    detected = sum(
        p_value(rng.integers(2048, size=100), rng.integers(600, 2648, size=100), 99, seed) <= 0.05
        for seed in range(40)
    )
    assert detected >= 38


def test_the_detector_settles() -> None:
    detector = ChangeDetector(window=20, significance=0.02)
    for depth in range(20):
        detector.observe(depth)
    assert detector.moved()  # nothing to compare with yet
    detector.settle()
    assert not detector.moved()
    for depth in range(20):
        detector.observe(depth)
    assert not detector.moved()
    for depth in range(20):
        detector.observe(depth + 100)
    assert detector.moved()
    detector.settle()
    for depth in range(20):
        detector.observe(depth + 100)
    assert not detector.moved()


def test_a_placer_plans_again_only_where_the_law_has_moved() -> None:
    placer = create("placer", "optimal:budget=1,window=20,drift=0.01")

    def teach(depth: int, times: int) -> None:
        for i in range(times):
            placer.observe(Overlap(depth + i % 3, 10_000))

    prompt = build_prefix([5000])
    teach(300, 40)
    plan = place(placer, prompt)
    teach(301, 60)  # one token further: seven tenths of the mass is where it was
    assert list(place(placer, prompt)) != []
    teach(2000, 40)
    assert list(place(placer, prompt)) == [2000]
    assert list(plan) == [300]

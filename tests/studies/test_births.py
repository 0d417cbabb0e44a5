"""The estimator of births and deaths that the study of predictions measures, by hand."""

from __future__ import annotations

from math import expm1

import pytest

from simulator.plugins.protocols import Overlap
from studies.figures.births import DEATHS, YOUNG, BirthsEstimator


def weights(depths: list[int]) -> dict[int, float]:
    estimator = BirthsEstimator(0.99)
    for depth in depths:
        estimator.observe(Overlap(depth, 1000))
    law = estimator.law()
    return dict(zip(law.depths.tolist(), law.weights.tolist(), strict=True)) | {0: law.misses}


def test_a_new_depth_has_its_visits_over_the_shortest_time() -> None:
    assert weights([0] * 50 + [7])[7] == pytest.approx(1 / YOUNG)


def test_a_depth_of_every_second_request_has_half_of_all() -> None:
    rates = weights([5, 0] * 1000)
    assert rates[5] == pytest.approx(0.5, rel=0.01)
    assert rates[0] == pytest.approx(0.5, rel=0.01)


def test_a_silence_is_measured_by_the_rate() -> None:
    often = weights([5, 0] * 1000 + [0] * 40)[5]
    visited = 0.01 / (1 - 0.99**2)  # a request, as of the last visit
    ends = visited + DEATHS
    alive = 1 / (1 + DEATHS / ends * expm1(41 * ends))
    assert often == pytest.approx(visited * 0.99**41 * alive, rel=0.001)
    seldom = weights(([5] + [0] * 49) * 40 + [0] * 40)[5]
    assert 0.004 < seldom < 0.005  # half of .0103, after as long as for two of its visits

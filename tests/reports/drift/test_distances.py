"""Distances between windows, and what chance alone does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from reports.drift.distances import change_point, compare, distances_over_time
from reports.drift.laws import Int64, distances, empirical
from reports.drift.windows import Windows, cut
from simulator.base.errors import UsageError

DEPTHS = np.arange(1, 41) * 50
SHARES = DEPTHS**-0.7 / (DEPTHS**-0.7).sum()
SAMPLES = st.lists(st.integers(0, 12), min_size=12, max_size=12)


def draw(rng: np.random.Generator, requests: int) -> Int64:
    return rng.choice(DEPTHS, size=requests, p=SHARES)


@given(SAMPLES, SAMPLES)
def test_both_distances_are_those_of_the_textbook(one: list[int], other: list[int]) -> None:
    ours, theirs = np.array(one), np.array(other)
    variation, kolmogorov, *_ = compare(ours, theirs, 1, np.random.default_rng(0), splits=1)
    counted = [abs(one.count(depth) - other.count(depth)) for depth in range(13)]
    assert variation == pytest.approx(sum(counted) / 24)
    assert kolmogorov == pytest.approx(ks_2samp(ours, theirs).statistic)
    assert distances(empirical(ours), empirical(theirs)) == pytest.approx((variation, kolmogorov))


def test_the_band_holds_95_percent_of_what_does_not_move() -> None:
    rng = np.random.default_rng(1)
    inside = np.zeros(2)
    for _ in range(600):
        compared = compare(draw(rng, 100), draw(rng, 100), 5, rng, splits=199)
        inside += np.array(compared[:2]) <= np.array(compared[2:4])
    assert all(0.93 <= share <= 0.97 for share in inside / 600)


def test_blocks_keep_the_band_where_requests_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(2)
    inside = {1: 0, 5: 0}
    for _ in range(200):
        pair = np.repeat(draw(rng, 40), 5).reshape(2, 100)
        for block in inside:
            _, kolmogorov, _, within, _ = compare(pair[0], pair[1], block, rng, splits=199)
            inside[block] += kolmogorov <= within
    assert inside[5] >= 0.92 * 200
    assert inside[1] < 0.6 * 200


def test_without_drift_a_move_is_claimed_in_one_trace_in_twenty() -> None:
    claimed = 0
    for seed in range(40):
        depths = draw(np.random.default_rng(seed), 1000)
        compared = distances_over_time(depths, cut(1000, 200), seed)
        claimed += any(each.moved for each in (*compared.steps, *compared.since_first))
    assert claimed <= 5  # the chance of more, at 5 % each, is one in a hundred


def test_a_sudden_shift_is_seen_where_it_is_and_as_large_as_it_is() -> None:
    rng = np.random.default_rng(3)
    before, after = draw(rng, 1100), draw(rng, 900)
    after[rng.random(900) < 0.5] = 2500  # half of the requests: both distances are 0.5
    compared = distances_over_time(np.concatenate((before, after)), cut(2000, 200), 0)
    windows = cut(2000, 200)
    assert compared.largest is not None
    assert windows.start(compared.largest.window) == 1100
    assert compared.change == pytest.approx(1100, abs=15)
    assert compared.largest.kolmogorov == pytest.approx(0.5, abs=0.1)
    assert [step.window for step in compared.steps if step.moved] == [11]
    assert [each.window for each in compared.since_first if each.moved] == list(range(11, 20))


@given(st.integers(1, 39))
def test_a_change_within_windows_is_found_to_the_request(before: int) -> None:
    assert change_point(np.repeat([7, 3], [before, 40 - before])) == before


def test_the_same_seed_draws_the_same_splits() -> None:
    depths = draw(np.random.default_rng(4), 1000)
    assert distances_over_time(depths, cut(1000, 0), 5) == distances_over_time(
        depths, cut(1000, 0), 5
    )


def test_windows_are_whole_blocks_behind_the_warm_up() -> None:
    assert cut(12_031, 200) == Windows(width=294, count=40, first=1, block=7)
    assert cut(600, 200) == Windows(width=100, count=6, first=2, block=5)
    assert cut(1000, 250) == Windows(width=100, count=10, first=3, block=5)
    with pytest.raises(UsageError, match=r"expected 600 requests or more .* found 599"):
        cut(599, 200)

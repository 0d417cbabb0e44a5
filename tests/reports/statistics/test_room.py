from __future__ import annotations

import numpy as np
import pytest

from reports.statistics import Ratio, Room, ratio_of_means, replay_difference


def test_the_share_of_the_room_by_hand() -> None:
    """10 % at the baseline, 50 % with foresight: 20 % is a quarter of the way."""
    prompts = np.array([100.0, 100.0])
    base, ours, top = (Ratio(prompts * share, prompts) for share in (0.1, 0.2, 0.5))
    assert Room(ours, base, top).value == pytest.approx(0.25)
    assert np.isnan(Room(ours, base, base).value)


def test_its_intervals_cover_as_they_say() -> None:
    generator = np.random.default_rng(1)
    hits = []
    for _ in range(400):
        prompts = generator.integers(500, 1500, 64).astype(float)
        shared = generator.normal(scale=0.1, size=64)
        base, ours, top = (
            Ratio((level + shared + generator.normal(scale=0.03, size=64)) * prompts, prompts)
            for level in (0.3, 0.4, 0.6)
        )
        interval = replay_difference(Room(ours, base, top), None)
        assert interval.low is not None
        assert interval.high is not None
        hits.append(interval.low <= 1 / 3 <= interval.high)
    assert 0.92 <= np.mean(hits) <= 0.98


def test_a_ratio_of_means_by_hand() -> None:
    """Ratio 2; residuals 1, -1, 0, 0 have an error of sqrt(2/3)/2, over a mean of 2."""
    interval = ratio_of_means([3.0, 1.0, 6.0, 6.0], [1.0, 1.0, 3.0, 3.0])
    assert interval.value == 2
    assert interval.error == pytest.approx(np.sqrt(2 / 3) / 2 / 2)
    assert (interval.method, interval.count, interval.freedom) == ("replications", 4, 3)
    assert ratio_of_means([1.0], [2.0]).low is None
    assert np.isnan(ratio_of_means([1.0, 2.0], [1.0, -1.0]).value)


def test_intervals_of_a_ratio_of_means_cover() -> None:
    generator = np.random.default_rng(2)
    hits = []
    for _ in range(2000):
        under = generator.normal(2, 0.3, 8)
        interval = ratio_of_means(0.4 * under + generator.normal(0, 0.1, 8), under)
        assert interval.low is not None
        assert interval.high is not None
        hits.append(interval.low <= 0.4 <= interval.high)
    assert 0.92 <= np.mean(hits) <= 0.97

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from reports.statistics import (
    Ratio,
    paired_difference,
    replay_difference,
    replayed_together,
    replicated_together,
)


def test_pairs_of_replications_are_tested_as_alone() -> None:
    values = np.random.default_rng(1).normal(size=(6, 3)) + np.array([0.0, 0.5, 2.0])
    p_values = replicated_together(values).p_values()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        oracle = stats.ttest_rel(values[:, one], values[:, other]).pvalue
        assert p_values[one, other] == p_values[other, one] == pytest.approx(oracle)
        alone = paired_difference(values[:, one], values[:, other])
        assert p_values[one, other] == pytest.approx(alone.p_value)
    assert np.isnan(np.diag(p_values)).all()


def test_another_draw_lies_farther_off_than_the_mean() -> None:
    values = np.random.default_rng(2).normal(size=(6, 2)) + np.array([0.0, 1.0])
    mean, another = (replicated_together(values, another=a) for a in (False, True))
    assert another.scale == pytest.approx(mean.scale * np.sqrt(7))
    assert another.p_values()[0, 1] > mean.p_values()[0, 1]


def test_pairs_of_one_replay_are_tested_as_alone() -> None:
    generator = np.random.default_rng(3)
    prompts = generator.integers(500, 1500, 64).astype(float)
    saved = [prompts * generator.uniform(0.2, 0.9, 64) for _ in range(3)]
    ratios = [Ratio(each, prompts) for each in saved]
    p_values = replayed_together(ratios).p_values()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        alone = replay_difference(ratios[one], ratios[other]).p_value
        assert p_values[one, other] == pytest.approx(alone, rel=1e-4)


def test_what_never_differs_is_not_tested_and_what_always_does_is_sure() -> None:
    base = np.array([[0.1], [0.4], [0.2]])
    p_values = replicated_together(np.hstack([base, base, base + 0.25])).p_values()
    assert np.isnan(p_values[0, 1])
    assert p_values[0, 2] == pytest.approx(0, abs=1e-12)


def test_too_little_to_resample_tells_nothing() -> None:
    short = [Ratio(np.array([1.0, 2.0]), np.ones(2)) for _ in range(2)]
    assert replayed_together(short).draws is None
    assert replicated_together(np.ones((1, 2))).draws is None

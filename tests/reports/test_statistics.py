from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import lfilter

from reports.statistics import (
    MIN_P99_REQUESTS,
    Estimate,
    Ratio,
    block_weights,
    mean_interval,
    mser5,
    p99,
    paired_difference,
    resampled_difference,
)


def ratio(values: NDArray[np.float64]) -> Ratio:
    return Ratio(values, np.ones(len(values)))


def covers(estimate: Estimate, truth: float) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def autoregressive(generator: np.random.Generator, size: int, phi: float) -> NDArray[np.float64]:
    noise = generator.normal(size=size + 200)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[200:], dtype=np.float64)


def test_the_t_interval_is_the_textbook_one() -> None:
    estimate = mean_interval([1.0, 2.0, 3.0, 4.0])
    low, high = stats.t.interval(0.95, 3, 2.5, stats.sem([1, 2, 3, 4]))
    assert estimate == Estimate(2.5, pytest.approx(low), pytest.approx(high), "replications", 4)


def test_one_value_has_no_interval_and_none_is_refused() -> None:
    assert mean_interval([3.0]) == Estimate(3.0)
    assert not mean_interval([0.0]).tied
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])


def test_pairing_removes_what_both_share() -> None:
    shared = np.random.default_rng(1).normal(scale=100, size=5)
    estimate = paired_difference(shared + np.array([1.0, 1.1, 0.9, 1.0, 1.0]), shared)
    assert estimate.value == pytest.approx(1.0)
    assert not estimate.tied
    assert paired_difference([1.0, 2.0], [2.0, 1.0]).tied


def test_equal_runs_are_tied() -> None:
    assert paired_difference([0.5, 0.6], [0.5, 0.6]).tied


@pytest.mark.parametrize("replications", [3, 10])
def test_t_intervals_cover_as_they_say(replications: int) -> None:
    draws = np.random.default_rng(2).exponential(size=(4000, replications, 40)).mean(axis=2)
    assert 0.92 <= np.mean([covers(mean_interval(row), 1.0) for row in draws]) <= 0.97


@pytest.mark.parametrize(
    ("phi", "size", "length"),
    [(0.0, 64, 1), (0.0, 64, None), (0.5, 512, 16), (0.8, 1024, 32)],
    ids=["iid", "iid, default length", "AR(1) 0.5", "AR(1) 0.8"],
)
def test_resampled_intervals_cover_as_they_say(phi: float, size: int, length: int | None) -> None:
    generator = np.random.default_rng(3)
    runs = [ratio(autoregressive(generator, size, phi)) for _ in range(600)]
    share = np.mean([covers(resampled_difference(run, None, length), 0.0) for run in runs])
    assert 0.92 <= share <= 0.97


def test_resampled_intervals_of_a_paired_ratio_cover() -> None:
    generator = np.random.default_rng(4)
    hits = []
    for _ in range(600):
        prompts = generator.integers(500, 1500, 64).astype(float)
        shared = generator.normal(scale=0.2, size=64)
        ours, theirs = (
            Ratio((level + shared + generator.normal(scale=0.02, size=64)) * prompts, prompts)
            for level in (0.6, 0.5)
        )
        hits.append(covers(resampled_difference(ours, theirs), 0.1))
    assert 0.92 <= np.mean(hits) <= 0.97


def test_the_bootstrap_error_is_the_closed_form_for_single_draws() -> None:
    values = np.random.default_rng(5).normal(size=64)
    estimate = resampled_difference(ratio(values), None, length=1)
    assert estimate.high is not None
    half = stats.t.ppf(0.975, 63) * values.std(ddof=1) / 8
    assert estimate.high - estimate.value == pytest.approx(half, rel=0.05)


def test_too_few_draws_or_no_prompt_tokens_give_no_interval() -> None:
    assert resampled_difference(ratio(np.arange(7.0)), None, length=2).low is None
    empty = Ratio(np.zeros(64), np.zeros(64))
    assert np.isnan(resampled_difference(empty, empty).value)
    assert resampled_difference(empty, empty).low is None


@given(blocks=st.integers(1, 80), length=st.integers(1, 90), seed=st.integers(0, 2**32))
def test_weights_are_whole_draws_and_follow_the_seed(blocks: int, length: int, seed: int) -> None:
    weights = block_weights(blocks, length, resamples=20, seed=seed)
    run = min(length, blocks)
    assert weights.shape == (20, blocks)
    assert (weights.sum(axis=1) == -(-blocks // run) * run).all()
    assert (weights == block_weights(blocks, length, resamples=20, seed=seed)).all()


def test_other_seeds_draw_other_weights_and_bad_lengths_are_refused() -> None:
    assert (block_weights(64, seed=1) != block_weights(64, seed=2)).any()
    with pytest.raises(ValueError, match="below 1"):
        block_weights(64, 0)
    with pytest.raises(ValueError, match="no block"):
        block_weights(0)


def test_p99_needs_368_values() -> None:
    # 0.99**n <= 0.025 is when the largest of n values bounds the P99 from above
    assert 0.99 ** (MIN_P99_REQUESTS - 1) > 0.025 > 0.99 ** (MIN_P99_REQUESTS + 1)
    assert p99(list(range(MIN_P99_REQUESTS - 1))) is None
    assert p99(np.arange(1001.0)) == pytest.approx(990.0)


def test_mser5_cuts_a_ramp_and_leaves_a_steady_series() -> None:
    noise = np.random.default_rng(6).normal(size=2000)
    ramp = np.concatenate([np.linspace(50, 0, 300), np.zeros(1700)]) + noise
    assert 280 <= mser5(ramp) <= 400
    assert mser5(noise) <= 500
    assert mser5(noise[:49]) == 0


def test_mser5_is_the_definition() -> None:
    values = np.random.default_rng(7).normal(size=203) + np.linspace(3, 0, 203)
    means = values[:200].reshape(40, 5).mean(axis=1)
    errors = [((means[d:] - means[d:].mean()) ** 2).sum() / (40 - d) ** 2 for d in range(21)]
    assert mser5(values) == 5 * int(np.argmin(errors))

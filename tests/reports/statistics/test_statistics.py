from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import lfilter

from reports.statistics import (
    Estimate,
    Quantile,
    Ratio,
    Room,
    clustered_difference,
    holm,
    independent_difference,
    mean_interval,
    mser5,
    paired_difference,
    replay_difference,
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


def waits(
    generator: np.random.Generator, runs: int, size: int, load: float, spread: float
) -> tuple[NDArray[np.float64], float]:
    """Return waits in a stationary M/G/1 queue, a row a run, and their mean.

    Service is lognormal of mean 1 and variance `spread`. The mean is Pollaczek and Khinchine's.
    """
    warmup = 2000
    gaps = generator.exponential(1 / load, (runs, size + warmup))
    sigma = np.sqrt(np.log1p(spread))
    service = generator.lognormal(-(sigma**2) / 2, sigma, (runs, size + warmup))
    walk = np.cumsum(service[:, :-1] - gaps[:, 1:], axis=1)
    low = np.minimum(np.minimum.accumulate(walk, axis=1), 0)
    return (walk - low)[:, warmup:], load * (1 + spread) / 2 / (1 - load)


def in_blocks(values: NDArray[np.float64], blocks: int = 64) -> Ratio:
    """Return the mean of a series as studies keep it: sums over blocks of requests."""
    edges = np.linspace(0, len(values), blocks + 1).astype(int)
    return Ratio(np.add.reduceat(values, edges[:-1]), np.diff(edges).astype(float))


def test_the_t_interval_is_the_textbook_one() -> None:
    estimate = mean_interval([1.0, 2.0, 3.0, 4.0])
    low, high = stats.t.interval(0.95, 3, 2.5, stats.sem([1, 2, 3, 4]))
    assert estimate == Estimate(2.5, pytest.approx(low), pytest.approx(high), "replications", 4)


def test_one_value_has_no_interval_and_none_is_refused() -> None:
    assert mean_interval([3.0]) == Estimate(3.0)
    assert mean_interval([0.0]).verdict == "equal"
    assert mean_interval([1.0]).verdict == "unknown"
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])


def test_pairing_removes_what_both_share() -> None:
    shared = np.random.default_rng(1).normal(scale=100, size=5)
    estimate = paired_difference(shared + np.array([1.0, 1.1, 0.9, 1.0, 1.0]), shared)
    assert estimate.value == pytest.approx(1.0)
    assert estimate.stands
    assert paired_difference([1.0, 2.0], [2.0, 1.0]).covers_zero


def test_equal_runs_are_equal() -> None:
    assert paired_difference([0.5, 0.6], [0.5, 0.6]).verdict == "equal"


@pytest.mark.parametrize("replications", [3, 10])
def test_t_intervals_cover_as_they_say(replications: int) -> None:
    draws = np.random.default_rng(2).exponential(size=(4000, replications, 40)).mean(axis=2)
    assert 0.92 <= np.mean([covers(mean_interval(row), 1.0) for row in draws]) <= 0.97


def test_intervals_of_a_paired_ratio_cover() -> None:
    generator = np.random.default_rng(4)
    hits = []
    for _ in range(600):
        prompts = generator.integers(500, 1500, 64).astype(float)
        shared = generator.normal(scale=0.2, size=64)
        ours, theirs = (
            Ratio((level + shared + generator.normal(scale=0.02, size=64)) * prompts, prompts)
            for level in (0.6, 0.5)
        )
        hits.append(covers(replay_difference(ours, theirs), 0.1))
    assert 0.92 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize("phi", [0.5, 0.9])
def test_the_blocks_of_a_replay_cover_on_autoregressive_series(phi: float) -> None:
    generator = np.random.default_rng(31)
    runs = [in_blocks(autoregressive(generator, 6400, phi)) for _ in range(400)]
    share = np.mean([covers(replay_difference(run, None), 0.0) for run in runs])
    assert 0.92 <= share <= 0.985  # looking for what lasts has its price where nothing does


@pytest.mark.parametrize(
    ("load", "spread", "size"), [(0.5, 1.0, 6400), (0.7, 1.0, 20_000)], ids=["half", "seven tenths"]
)
def test_the_blocks_of_a_replay_cover_on_waits_in_a_queue(
    load: float, spread: float, size: int
) -> None:
    rows, truth = waits(np.random.default_rng(32), 300, size, load, spread)
    assert rows.mean() == pytest.approx(truth, rel=0.02)
    share = np.mean([covers(replay_difference(in_blocks(row), None), truth) for row in rows])
    assert 0.92 <= share <= 0.985  # looking for what lasts has its price where nothing does


@pytest.mark.parametrize(("spread", "parts"), [(0.5, 200), (1.0, 200), (0.5, 20)])
def test_sessions_of_unequal_sizes_cover(spread: float, parts: int) -> None:
    """Requests of one session share a level, so taking them one by one would cover too little."""
    generator = np.random.default_rng(33)
    hits = []
    for _ in range(600):
        sizes = np.ceil(10 * generator.lognormal(0, spread, parts))
        level = generator.normal(0.4, 0.1, parts)
        sums = sizes * level + generator.normal(size=parts) * 0.2 * np.sqrt(sizes)
        hits.append(covers(clustered_difference(Ratio(sums, sizes), None, "sessions"), 0.4))
    assert 0.92 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_quantiles_of_a_dependent_series_cover(level: float) -> None:
    generator = np.random.default_rng(34)
    part = np.repeat(np.arange(64), 20)
    truth = stats.norm.ppf(level) / np.sqrt(1 - 0.5**2)
    hits = []
    for _ in range(250):
        values = autoregressive(generator, 64 * 20, 0.5)
        order = np.argsort(values)
        quantile = Quantile(values[order], part[order], 64, level)
        hits.append(covers(replay_difference(quantile, None), truth))
    assert 0.92 <= np.mean(hits) <= 0.97


def test_one_giant_session_is_no_evidence() -> None:
    sizes = np.array([1000.0, *np.ones(50)])
    assert clustered_difference(Ratio(sizes / 2, sizes), None, "sessions").low is None
    even = Ratio(np.arange(51.0), np.ones(51))
    estimate = clustered_difference(even, None, "documents")
    assert (estimate.method, estimate.count, estimate.freedom) == ("documents", 51, 50)


def test_independent_samples_are_compared_as_welch_does() -> None:
    generator = np.random.default_rng(36)
    ours, theirs = generator.normal(1, 3, 5), generator.normal(0, 1, 12)
    estimate = independent_difference(mean_interval(ours), mean_interval(theirs))
    oracle = stats.ttest_ind(ours, theirs, equal_var=False)
    assert estimate.p_value == pytest.approx(oracle.pvalue)
    low, high = oracle.confidence_interval(0.95)
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))
    assert independent_difference(Estimate(1.0), mean_interval(theirs)).low is None
    same = mean_interval([2.0, 2.0])
    assert independent_difference(same, same).p_value == 1.0


def test_p_values_are_those_of_the_t_test() -> None:
    values = np.random.default_rng(37).normal(0.3, 1, 9)
    assert mean_interval(values).p_value == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert (mean_interval([1.0, 1.0]).p_value, mean_interval([0.0, 0.0]).p_value) == (0.0, 1.0)
    assert Estimate(3.0).p_value is None


@given(values=st.lists(st.floats(-9, 9).map(lambda x: round(x, 3)), min_size=2, max_size=8))
def test_the_interval_covers_zero_where_p_is_above_five_per_cent(values: list[float]) -> None:
    estimate = mean_interval(values)
    assert estimate.p_value is not None
    if abs(estimate.p_value - 0.05) > 1e-9:
        assert estimate.covers_zero == (estimate.p_value > 0.05)


def test_holm_by_hand() -> None:
    # 0.01 x 4, then 0.03 x 3, 0.04 x 2 raised to 0.09, and 0.05 x 1 likewise
    assert holm([0.03, 0.01, 0.05, 0.04]) == pytest.approx([0.09, 0.04, 0.09, 0.09])
    assert holm([]) == []


def test_holm_claims_something_false_in_at_most_five_per_cent() -> None:
    """Eight true nulls, strongly dependent, and two differences that are real."""
    generator = np.random.default_rng(38)
    false_claims = []
    for _ in range(2000):
        scores = 0.7 * generator.normal() + np.sqrt(0.51) * generator.normal(size=10)
        scores[8:] += 4
        adjusted = holm((2 * stats.norm.sf(np.abs(scores))).tolist())
        false_claims.append(min(adjusted[:8]) < 0.05)
    assert np.mean(false_claims) <= 0.05


@pytest.mark.parametrize("memory", [4.0, 7.0])
def test_what_is_known_to_last_is_extrapolated(memory: float) -> None:
    """Blocks that are forgotten exponentially, of which 64 hold few spells."""
    generator = np.random.default_rng(40)
    runs = [ratio(autoregressive(generator, 64, np.exp(-1 / memory))) for _ in range(600)]
    with_memory, without = (
        np.mean([covers(replay_difference(run, None, known), 0.0) for run in runs])
        for known in (memory, 0.0)
    )
    assert 0.92 <= with_memory <= 0.985
    assert without < with_memory


def test_a_replay_of_few_memories_or_blocks_says_why_it_has_no_interval() -> None:
    run = ratio(np.arange(64.0))
    assert replay_difference(run, None, 8.0).low is not None
    short = replay_difference(run, None, 16.0)
    assert (short.low, short.value) == (None, 31.5)
    assert short.reason.startswith("too short to tell: it lasts 4.0 times as long")
    few = replay_difference(ratio(np.arange(7.0)), None)
    assert few.reason == "too short to tell: 7 blocks of time, of which 8 are needed"
    assert replay_difference(ratio(np.arange(8.0)), None).low is not None


def test_the_same_in_every_part_is_sure() -> None:
    difference = replay_difference(ratio(np.ones(64)), ratio(np.zeros(64)))
    assert (difference.low, difference.high, difference.p_value) == (1.0, 1.0, 0.0)


def test_influences_are_what_a_part_more_would_do() -> None:
    """A part with a weight a little above one moves the number by its influence."""
    generator = np.random.default_rng(41)
    prompts = generator.integers(500, 1500, 64).astype(float)
    base, ours, top = (prompts * generator.uniform(0.2, level, 64) for level in (0.4, 0.6, 0.9))
    weights = np.ones(64)
    weights[5] += 1e-6

    def moved(statistic: Callable[[NDArray[np.float64]], float]) -> float:
        return (statistic(weights) - statistic(np.ones(64))) / 1e-6

    def made(of: NDArray[np.float64], w: NDArray[np.float64]) -> Ratio:
        return Ratio(of * w, prompts * w)

    alone = made(ours, np.ones(64)).influence[5]
    assert moved(lambda w: made(ours, w).value) == pytest.approx(alone, rel=1e-3)
    room = Room(*(made(each, np.ones(64)) for each in (ours, base, top))).influence[5]
    by_moving = moved(lambda w: Room(*(made(each, w) for each in (ours, base, top))).value)
    assert by_moving == pytest.approx(room, rel=1e-3)


def test_no_prompt_tokens_give_no_interval() -> None:
    empty = Ratio(np.zeros(64), np.zeros(64))
    assert np.isnan(replay_difference(empty, empty).value)
    assert replay_difference(empty, empty).low is None


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

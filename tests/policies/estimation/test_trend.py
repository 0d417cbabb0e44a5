"""Laws carried along a trend: their rate, by known ones, and against the true law of traffic."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.estimation import CountingEstimator, Decay, Trend
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law, Overlap
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.inspection import overlaps
from workloads.synthetic import Documents
from workloads.synthetic.truth import overlap_law

GENERATOR = Documents(count=8, openings=0, zipf_exponent=1.0)
REQUESTS, SEED = 3000, 4


def teach(estimator: CountingEstimator, depths: NDArray[np.int64]) -> Law:
    for depth in depths.tolist():
        estimator.observe(Overlap(depth, 10**7))
    return estimator.law()


def grown(rate: float, requests: int, seed: int) -> NDArray[np.int64]:
    """Return depths of twelve documents whose lengths grow by `rate` a request; 1 in 10 misses."""
    rng = np.random.default_rng(seed)
    lengths = rng.lognormal(8, 0.5, 12)
    depths = lengths[rng.integers(12, size=requests)] * np.exp(rate * np.arange(requests))
    return np.where(rng.random(requests) < 0.1, 0, depths).astype(np.int64)


def kolmogorov(one: Law, other: Law) -> float:
    """Return the greatest distance of the distribution functions of two laws."""
    at = np.union1d(one.depths, other.depths)
    below = [
        (law.misses + np.append(0, law.weights.cumsum())[law.depths.searchsorted(at, "right")])
        / (law.misses + law.weights.sum())
        for law in (one, other)
    ]
    return float(np.abs(below[0] - below[1]).max())


@pytest.mark.parametrize("rate", [0.0003, 0.0008, -0.0003])
def test_the_rate_is_that_of_the_depths(rate: float) -> None:
    estimator = Trend(0.99)
    depths = grown(rate, 1500, seed=1)
    law = teach(estimator, depths)
    assert estimator.rate == pytest.approx(rate, rel=0.2)
    # carried to the present, each document is near its present length
    present = grown(0.0, 1500, seed=1)[-600:]
    present = present[present > 0] * np.exp(rate * 1499)
    nearest = np.abs(np.log(law.depths[:, None] / np.unique(present.astype(int)))).min(axis=1)
    assert np.average(nearest, weights=law.weights) < 0.02
    assert law.weights.sum() + law.misses == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_without_a_trend_the_law_is_that_of_decay(seed: int) -> None:
    depths = grown(0.0, 2000, seed)
    ours, theirs = teach(Trend(0.98), depths), teach(Decay(0.98), depths)
    assert ours.depths.tolist() == theirs.depths.tolist()
    assert ours.weights.tolist() == theirs.weights.tolist()
    assert ours.misses == theirs.misses


def test_a_trend_that_ends_is_given_up() -> None:
    depths = grown(0.0005, 3000, seed=2)
    depths[1500:] = grown(0.0, 1500, seed=2) * int(np.exp(0.75) * 100) // 100
    estimator = Trend(0.99)
    teach(estimator, depths[:1500])
    assert estimator.rate > 0
    law = teach(estimator, depths[1500:])
    assert estimator.rate == 0
    plain = teach(Decay(0.99), depths)
    assert law.depths.tolist() == plain.depths.tolist()
    assert law.weights == pytest.approx(plain.weights)


def test_it_is_closer_to_the_true_law_of_growing_documents() -> None:
    drift = read_drift("growth:factor=3,steps=64")
    depths = overlaps(GENERATOR.trace(REQUESTS, SEED, Poisson(1.0), drift))
    trend, decay = Trend(0.995), Decay(0.995)
    distances = []
    for now in range(1000, REQUESTS, 250):
        seen = depths[max(0, now - 250) if distances else 0 : now]
        laws = teach(trend, seen), teach(decay, seen)
        truth = overlap_law(GENERATOR, now, REQUESTS, SEED, drift)
        distances.append([kolmogorov(law, truth) for law in laws])
    ours, theirs = np.mean(distances, axis=0)
    assert ours < 0.75 * theirs


def test_memory_is_bounded_and_a_long_past_changes_nothing() -> None:
    depths = grown(0.0004, 9000, seed=5)
    whole, late = Trend(0.98), Trend(0.98)
    law = teach(whole, depths)
    other = teach(late, depths[-4000:])
    assert whole.rate == late.rate > 0
    assert np.array_equal(law.depths, other.depths)
    assert law.weights == pytest.approx(other.weights)


def test_a_bad_factor_is_named() -> None:
    for name in ("trend", "period"):
        with pytest.raises(UsageError, match=r"factor: expected above 0 and at most 0\.9999"):
            create("estimator", f"{name}:factor=1")

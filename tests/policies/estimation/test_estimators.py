"""Hand-worked laws of the overlap estimators."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.estimation import CountingEstimator, Decay, Frozen, WindowEstimator
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law, Overlap


def teach(estimator: CountingEstimator, *depths: int) -> Law:
    for depth in depths:
        estimator.observe(Overlap(depth, 10_000))
    return estimator.law()


def shares(law: Law) -> dict[int, float]:
    return {0: law.misses} | dict(zip(law.depths.tolist(), law.weights.tolist(), strict=True))


def test_a_window_holds_the_last_requests() -> None:
    estimator = WindowEstimator(3)
    assert shares(teach(estimator, 5, 0)) == {0: 1, 5: 1}
    assert shares(teach(estimator, 7, 7)) == {0: 1, 7: 2}
    assert estimator.effective_samples == 3


@given(depths=st.lists(st.integers(0, 5), min_size=1, max_size=60), size=st.integers(1, 20))
def test_a_window_equals_a_recount(depths: list[int], size: int) -> None:
    counts = Counter(depths[-size:])
    assert shares(teach(WindowEstimator(size), *depths)) == {0: 0} | {d: counts[d] for d in counts}


def test_a_window_that_slides_over_equal_overlaps_keeps_its_version() -> None:
    estimator = WindowEstimator(2)
    version = teach(estimator, 5, 5).version
    assert teach(estimator, 5).version == version
    assert teach(estimator, 6).version == version + 1


def test_decay_weighs_by_age() -> None:
    estimator = Decay(0.5)
    assert shares(teach(estimator, 5, 0, 5, 9)) == {0: 0.25, 5: 0.125 + 0.5, 9: 1.0}


@pytest.mark.parametrize("factor", [0.01, 0.5, 0.99])
def test_the_effective_sample_of_decay_tends_to_its_limit(factor: float) -> None:
    estimator = Decay(factor)
    assert estimator.effective_samples == 0
    teach(estimator, 1)
    assert estimator.effective_samples == 1
    teach(estimator, *range(3000))
    assert estimator.effective_samples == pytest.approx((1 + factor) / (1 - factor))


@pytest.mark.parametrize("factor", [1e-300, 0.3, 0.9])
def test_decay_neither_overflows_nor_grows(factor: float) -> None:
    estimator = Decay(factor)
    depths = [1 + i * 7919 % 5003 for i in range(5000)]
    law = teach(estimator, *depths)
    expected = dict.fromkeys(depths, 0.0)
    for age, depth in enumerate(reversed(depths)):
        expected[depth] += factor**age
    kept = shares(law)
    assert all(weight == pytest.approx(expected.get(d, 0), rel=1e-6) for d, weight in kept.items())
    assert all(expected[d] < 2e-9 for d in expected if d not in kept)
    assert len(kept) < 300


def test_frozen_keeps_its_law() -> None:
    estimator = Frozen(3)
    law = teach(estimator, 4, 0, 4)
    assert shares(law) == {0: 1, 4: 2}
    assert teach(estimator, 9, 9) is law
    assert estimator.effective_samples == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("window:requests=0", "requests: expected 1 to 1000000, found 0"),
        ("decay:factor=1", "factor: expected above 0 and at most 0.9999, found 1.0"),
        ("decay:factor=0", "factor: expected above 0"),
        ("frozen:train=-1", "train: expected 1 to 1000000, found -1"),
    ],
)
def test_bad_parameters_are_named(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create("estimator", spec)

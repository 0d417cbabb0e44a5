from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.base.errors import UsageError
from workloads.arrivals import Poisson
from workloads.gaps import poisson_arrivals
from workloads.randomness import stream


def test_times_start_at_zero_ascend_and_keep_to_the_rate():
    times = poisson_arrivals(20_001, 4.0, seed=1)
    gaps = np.diff(times)
    assert times[0] == 0
    assert (gaps >= 0).all()
    # the mean of 20,000 exponential gaps lies within five standard errors
    assert abs(gaps.mean() - 0.25) < 5 * 0.25 / math.sqrt(20_000)
    assert abs(gaps.std() - 0.25) < 0.02


def test_one_seed_gives_one_process_at_any_rate():
    slow = poisson_arrivals(50, 1.0, seed=3)
    assert (slow == poisson_arrivals(50, 1.0, seed=3)).all()
    assert np.allclose(slow, 2 * poisson_arrivals(50, 2.0, seed=3))
    assert not np.allclose(slow, poisson_arrivals(50, 1.0, seed=4))
    assert (poisson_arrivals(20, 1.0, seed=3) == slow[:20]).all()


def test_few_or_no_requests():
    assert Poisson(1.0).times(0, seed=0).tolist() == []
    assert poisson_arrivals(1, 1.0, seed=0).tolist() == [0.0]


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf, 1e-9, 1e9])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(UsageError, match="arrival rate"):
        poisson_arrivals(10, rate, seed=0)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(UsageError, match="seed"):
        stream(seed, "x")


def test_a_negative_count_is_refused():
    with pytest.raises(UsageError, match="count"):
        Poisson(1.0).times(-1, seed=0)


def test_streams_of_different_purposes_differ_and_repeat():
    drawn = {p: stream(5, p).random() for p in ("a", "b", "ab", "ba", "a\0")}
    assert len(set(drawn.values())) == 5
    assert stream(5, "ab").random() == drawn["ab"]

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.base.errors import UsageError
from workloads.opening import open_trace
from workloads.ticks import jitter, tick_seconds


def test_times_in_ticks_tell_their_tick():
    assert tick_seconds(np.array([0.0, 3.0, 3.0, 9.0, 12.0, 15.0])) == 3.0
    # rare arrivals: the usual gap is several ticks
    rare = np.cumsum(np.random.default_rng(0).geometric(0.2, 500) * 0.25)
    assert tick_seconds(rare) == 0.25


def test_a_clock_that_is_late_now_and_then_still_ticks():
    times = 3.0 * np.arange(200)
    times[::3] -= 0.001
    assert tick_seconds(np.sort(times)) == pytest.approx(3.0, abs=0.0011)


def test_times_without_a_tick_tell_their_resolution():
    times = np.sort(np.random.default_rng(1).random(500).round(4))
    assert tick_seconds(times) == pytest.approx(1e-4)
    assert tick_seconds(np.array([0.0, 0.7])) is None
    assert tick_seconds(np.array([])) is None
    assert tick_seconds(np.array([5.0, 5.0, 5.0])) is None


def test_the_ticks_of_real_traces(shared):
    ticks = {
        name: tick_seconds(
            open_trace(shared / f"data/mooncake/{name}_trace.jsonl.gz").arrival_seconds
        )
        for name in ("conversation", "synthetic")
    }
    assert ticks["conversation"] == pytest.approx(3.0)
    assert ticks["synthetic"] == pytest.approx(0.001)


def test_jitter_makes_a_rounded_poisson_process_poisson_again():
    times = np.cumsum(np.random.default_rng(4).exponential(0.25, 40_000)) // 3 * 3.0
    assert np.diff(times).std() > 1.5 * np.diff(times).mean()
    gaps = np.diff(jitter(times, 3.0, seed=1))
    assert stats.kstest(gaps, stats.expon(scale=0.25).cdf).pvalue > 0.001


@given(
    ticks=st.lists(st.integers(0, 50), min_size=1, max_size=40).map(sorted),
    tick=st.floats(1e-3, 1e3),
    seed=st.integers(0, 1000),
)
def test_jitter_keeps_order_and_tick(ticks, tick, seed):
    times = np.array(ticks) * tick
    spread = jitter(times, tick, seed)
    assert spread[0] == 0
    assert (np.diff(spread) >= 0).all()
    # all moved by less than a tick, up to the start that is taken off
    shift = spread - times
    assert np.ptp(shift) < tick * (1 + 1e-9)
    assert (spread == jitter(times, tick, seed)).all()


@pytest.mark.parametrize("tick", [0.0, -1.0, float("nan"), float("inf")])
def test_a_tick_out_of_range_is_refused(tick):
    with pytest.raises(UsageError, match="tick"):
        jitter(np.zeros(3), tick, seed=0)

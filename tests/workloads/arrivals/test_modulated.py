"""Poisson processes whose rate changes: states, a sinusoid, a flash crowd."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from simulator.base.errors import UsageError
from tests.workloads.laws import assert_dispersion, assert_mean, assert_share
from workloads.arrivals import read_process
from workloads.arrivals.mmpp import Mmpp


def rescaled(come):
    """Return the p-value of the time change: what comes between arrivals is exponential."""
    return stats.kstest(np.diff(come), stats.expon.cdf).pvalue


@pytest.mark.parametrize(
    ("levels", "sojourns"), [("1/10", "30/3"), ("0/4", "5/5"), ("2/1", "10/40")]
)
def test_two_states_have_the_closed_form_of_dispersion(levels, sojourns):
    process = read_process(f"mmpp:rate=8,levels={levels},sojourns={sojourns}")
    assert isinstance(process, Mmpp)
    window = 50.0
    times = process.times(400_000, seed=7)
    counts = np.bincount((times / window).astype(np.int64))[:-1]
    rates, stays = (values.tolist() for values in process.states())
    leaving = 1 / stays[0] + 1 / stays[1]
    share = stays[0] / sum(stays)
    spread = share * (1 - share) * (8 * rates[0] - 8 * rates[1]) ** 2
    settled = 1 - (1 - math.exp(-leaving * window)) / (leaving * window)
    assert_dispersion(counts, 1 + 2 * spread / (8 * leaving) * settled)
    # counts of windows that follow each other are correlated: pairs of them hardly are
    pairs = counts[: len(counts) // 10 * 10].reshape(-1, 10).mean(axis=1)
    assert_mean(pairs, 8 * window)


def test_time_in_a_state_is_proportional_to_its_sojourn():
    # a state that is silent, so that its time is seen in the gaps
    process = read_process("mmpp:rate=100,levels=0/1/1,sojourns=20/10/10")
    gaps = np.diff(process.times(200_000, seed=2))
    silent = gaps[gaps > 0.5]
    assert_mean(silent, 20.0 + 0.01)
    busy = gaps.sum() - silent.sum()
    assert abs(busy / gaps.sum() - 0.5) < 0.12  # some 50 sojourns


def test_a_sinusoid_is_poisson_on_its_own_clock():
    process = read_process("diurnal:rate=3,amplitude=0.8,period=500,start=0.25")
    times = process.times(50_000, seed=4)
    u = times / 500 + 0.25
    come = 1500 * (u + 0.8 * (1 - np.cos(2 * math.pi * u)) / (2 * math.pi))
    assert rescaled(come) > 0.001
    whole = times[times < times[-1] // 500 * 500]
    per_period = np.bincount((whole / 500).astype(np.int64))
    assert_mean(per_period, 1500.0)
    falling = (whole / 500 % 1) < 0.5  # from the peak to the trough
    assert_share(int(falling.sum()), len(whole), 0.5)
    high = np.abs(whole / 500 % 1 - 0.5) > 0.25
    assert_share(int(high.sum()), len(whole), 0.5 + 0.8 / math.pi)


def test_a_full_amplitude_falls_silent():
    times = read_process("diurnal:rate=50,amplitude=1,period=100").times(50_000, seed=1)
    phase = times / 100 % 1
    trough = np.abs(phase - 0.75) < 0.02
    # 1 - cos integrated over 0.04 of a period around its zero
    expected = 0.04 - math.sin(0.04 * math.pi) / math.pi
    assert_share(int(trough.sum()), len(times), expected)


def test_a_flash_crowd_is_poisson_on_its_own_clock():
    process = read_process("flash:rate=5,height=20,start=1000,decay=100")
    times = process.times(30_000, seed=6)
    late = np.maximum(times - 1000, 0)
    come = 5 * times + 5 * 20 * 100 * (1 - np.exp(-late / 100))
    assert rescaled(come) > 0.001
    crowd = np.count_nonzero((times >= 1000) & (times < 2000)) - 5000
    expected = 5 * 20 * 100 * (1 - math.exp(-10))
    assert abs(crowd - expected) <= 3.29 * math.sqrt(expected + 5000)


def test_no_crowd_is_poisson():
    flat = read_process("flash:rate=5,height=0").times(1000, seed=1)
    assert np.allclose(flat, read_process("poisson:rate=5").times(1000, seed=1))


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ("levels=1", "levels: expected 2 to 64 numbers as in 1/10"),
        ("levels=1/x", "levels: expected 2 to 64 numbers"),
        ("levels=1/nan", "levels: expected 2 to 64 numbers"),
        ("levels=1/-1", "levels: expected 2 to 64 numbers"),
        ("levels=0/0", "levels: expected one above 0"),
        ("sojourns=1/0", "sojourns: expected seconds above 0"),
        ("levels=1/2/3", "sojourns: expected 3 as in levels, found 2"),
    ],
)
def test_lists_that_make_no_sense_are_refused(knobs, message):
    with pytest.raises(UsageError, match=message):
        read_process(f"mmpp:{knobs}")


def test_absurdly_short_sojourns_are_refused():
    with pytest.raises(UsageError, match="sojourns: expected longer ones than 1e-9/1e-9"):
        read_process("mmpp:sojourns=1e-9/1e-9").times(4000, seed=0)

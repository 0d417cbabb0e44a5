from __future__ import annotations

import numpy as np
import pytest

from workloads.gaps import poisson_arrivals
from workloads.inspection.burstiness import burstiness
from workloads.opening import open_trace


def test_poisson_arrivals_are_poisson_at_every_scale():
    inside = total = 0
    for seed in range(20):
        bursts = burstiness(poisson_arrivals(5_000, 4.0, seed))
        assert bursts.gap_cv == pytest.approx(1, abs=0.08)
        assert bursts.requests_per_second == pytest.approx(4, rel=0.06)
        assert not bursts.tick_is_artefact
        assert bursts.tick_seconds is bursts.jittered_gap_cv is None
        inside += sum(d.poisson_low <= d.index <= d.poisson_high for d in bursts.dispersion)
        total += len(bursts.dispersion)
    assert inside / total > 0.9  # 95 % are expected


def test_even_arrivals_do_not_vary():
    bursts = burstiness(np.arange(1000) * 0.25)
    assert bursts.gap_cv == pytest.approx(0, abs=1e-9)
    assert bursts.dispersion[0].index == pytest.approx(0, abs=1e-9)


def test_a_clock_of_ticks_is_no_burst():
    times = np.floor(poisson_arrivals(4_000, 5.0, 3) / 2.0) * 2.0
    bursts = burstiness(times)
    assert bursts.tick_is_artefact
    assert bursts.tick_seconds == 2.0
    assert bursts.gap_cv > 2.5
    assert bursts.jittered_gap_cv == pytest.approx(1, abs=0.06)
    assert [d.window_seconds for d in bursts.dispersion] == [2, 4, 10, 30, 60]
    assert all(d.poisson_low <= d.index <= d.poisson_high for d in bursts.dispersion[:3])


def test_equal_times_have_no_burstiness():
    assert burstiness(np.zeros(4)) is None


def test_the_conversation_trace_has_ticks_of_three_seconds(shared):
    trace = open_trace(shared / "data" / "mooncake" / "conversation_trace.jsonl.gz")
    bursts = burstiness(trace.arrival_seconds)
    assert bursts.distinct_times == 1_180
    assert bursts.tick_is_artefact
    assert bursts.tick_seconds == pytest.approx(3.0)
    assert bursts.gap_cv > 3
    assert bursts.jittered_gap_cv == pytest.approx(1, abs=0.05)

from __future__ import annotations

import numpy as np
import pytest

from tests.workloads.inspection.small_traces import trace_of
from workloads.inspection.clock import clock_of
from workloads.inspection.conversations import conversations
from workloads.inspection.law import quantiles_of, survival
from workloads.inspection.overlaps import overlaps
from workloads.inspection.timeline import timeline
from workloads.opening import open_trace


def test_windows_hold_what_arrives_in_them():
    trace = trace_of([[1, 2, 3], [1, 2], [1, 2, 4], [5]], times=[10, 11, 13, 14])
    saved = np.minimum(overlaps(trace), trace.prompt_tokens - 1)
    windows = timeline(trace, clock_of(trace), saved)
    assert windows.unit == "seconds"
    assert windows.start == (0, 1, 2, 3)
    assert windows.requests == (1, 1, 0, 2)
    assert windows.prompt_tokens == (3, 2, 0, 4)
    assert windows.saved_tokens == (0, 1, 0, 2)


def test_without_times_requests_are_the_clock():
    for times in (None, [4, 4, 4]):
        clock = clock_of(trace_of([[1], [2], [3]], times=times))
        assert clock.unit == "requests"
        assert clock.span == 2


def test_the_synthetic_mooncake_trace_drifts_as_is_known(shared):
    trace = open_trace(shared / "data" / "mooncake" / "synthetic_trace.jsonl.gz")
    saved = np.minimum(overlaps(trace), trace.prompt_tokens - 1)
    windows = timeline(trace, clock_of(trace), saved)
    quarters = [
        sum(windows.saved_tokens[at : at + 15]) / sum(windows.prompt_tokens[at : at + 15])
        for at in range(0, 60, 15)
    ]
    # known of quarters of the requests; here they are of the time
    assert quarters == pytest.approx([0.17, 0.49, 0.76, 0.95], abs=0.03)


def test_sessions_of_a_hand_worked_trace():
    prompts = [[1], [9], [1, 2, 3], [1, 2], [9, 9, 9, 9]]
    trace = trace_of(prompts, times=[0, 1, 5, 6, 9], session=[4, 2, 4, 4, -1])
    figures = conversations(trace)
    assert figures.sessions == 2
    assert figures.requests == 4
    assert figures.turns.mean == 2
    assert figures.gap_seconds.max == 5
    assert figures.growth_tokens.percentiles[0] == -1
    assert figures.continuing_share == 0.5  # (1, 2) does not begin with (1, 2, 3)
    assert conversations(trace_of([[1]])) is None


def test_turns_of_real_sessions_go_on_to_the_block(shared):
    trace = open_trace(shared / "data" / "tau_airline" / "tau_airline_gpt4o.jsonl.gz", block=16)
    figures = conversations(trace)
    assert figures.sessions == 200
    assert figures.continuing_share == 1.0


def test_weighted_quantiles_are_those_of_repeated_values():
    rng = np.random.default_rng(5)
    values, weights = rng.integers(0, 50, 40), rng.integers(1, 9, 40)
    one, other = quantiles_of(values, weights), quantiles_of(np.repeat(values, weights))
    assert one.mean == pytest.approx(other.mean)
    assert one.cv == pytest.approx(other.cv)
    assert one.p90 == pytest.approx(other.p90, abs=1)
    assert one.max == other.max


def test_a_long_survival_curve_is_thinned_and_keeps_its_ends():
    values = np.arange(1, 5001)
    curve = survival(values)
    assert len(curve.points) <= 400
    assert curve.points[0] == 1
    assert curve.points[-1] == 5000
    for point, share in zip(curve.points, curve.share, strict=True):
        assert share == pytest.approx((values >= point).mean())
    assert survival(np.array([0, 0, 3])).share == (1 / 3,)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import parse_profile

STATE_BYTES = 2 * 2**20


def cost_model(
    n: list[int],
    us: list[float],
    *,
    e: float = 0.0,
    g: float = 0.0,
    cut: str | float = "prefill_table",
    io: dict[str, Any] | None = None,
) -> CostModel:
    data = {
        "schema_version": 1,
        "profile_id": "toy",
        "kind": "toy",
        "source": "a test",
        "licence": "Apache-2.0",
        "created": "2026-11-30",
        "hardware": {"name": "none"},
        "model": {"name": "toy"},
        "state": {"ssm_bytes": STATE_BYTES, "conv_bytes": 0, "bytes_per_checkpoint": STATE_BYTES},
        "kv": {"bytes_per_token": 8},
        "prefill": {
            "F": {"n": n, "us": us},
            "e_us_per_pair": e,
            "g_us_per_token": g,
            "valid": {"n_max": 1000, "c_max": 5000},
        },
        "checkpoint": {"cut_overhead": cut, "snapshot_us_per_mib": 5.0},
        "io": io or {"d2d": {"latency_us": 2.0, "gbps": 1000.0}},
    }
    return CostModel(parse_profile(data, "toy.json"))


@st.composite
def cost_models(draw: st.DrawFn) -> CostModel:
    n = draw(st.lists(st.integers(1, 3000), min_size=2, max_size=8, unique=True).map(sorted))
    us = draw(st.lists(st.floats(1, 1e6), min_size=len(n), max_size=len(n)))
    return cost_model(n, us, e=draw(st.floats(0, 10)))


def test_worked_by_hand() -> None:
    cost = cost_model([10, 20, 40], [100.0, 150.0, 450.0], e=0.5, g=0.25)
    micro = 1e-6
    assert cost.prefill_seconds(7, 7) == 0.0
    assert cost.prefill_seconds(0, 10) == pytest.approx((100 + 0.5 * 50) * micro)
    # F(15) = 125; pairs 15 * (100 + 7.5); context 100.
    assert cost.prefill_seconds(100, 115) == pytest.approx((125 + 806.25 + 25) * micro)
    # Below the table its first entry, beyond it the last slope: F(3) = 100, F(50) = 600.
    assert cost.prefill_seconds(0, 3) == pytest.approx((100 + 2.25) * micro)
    assert cost.prefill_seconds(0, 50) == pytest.approx((600 + 625) * micro)


def test_prices_are_plain_floats() -> None:
    cost = cost_model([1, 2], [1.0, 2.0])
    assert type(cost.prefill_seconds(0, 1000)) is float
    assert type(cost.capture_seconds(0, 9, [3])) is float


def test_interpolation_against_numpy() -> None:
    n, us = [1, 16, 64, 65, 512], [90.0, 100.0, 101.5, 118.0, 900.0]
    cost = cost_model(n, us)
    tokens = np.arange(1, 513)
    priced = [cost.prefill_seconds(0, int(t)) for t in tokens]
    assert priced == pytest.approx(np.interp(tokens, n, us) * 1e-6)


@given(cost_models(), st.data())
def test_a_hit_is_never_dearer_than_a_miss(cost: CostModel, data: st.DataObject) -> None:
    stop = data.draw(st.integers(1, 5000))
    near, far = sorted(data.draw(st.tuples(st.integers(0, stop), st.integers(0, stop))))
    assert cost.prefill_seconds(far, stop) <= cost.prefill_seconds(near, stop)


@given(cost_models(), st.integers(0, 2000), st.integers(0, 3000), st.integers(0, 3000))
def test_prefill_is_monotone_in_stop(cost: CostModel, start: int, a: int, b: int) -> None:
    low, high = sorted((a, b))
    shorter = cost.prefill_seconds(start, start + low)
    assert 0 <= shorter <= cost.prefill_seconds(start, start + high)


@given(cost_models(), st.sets(st.integers(1, 400), min_size=1, max_size=12), st.integers(0, 50))
def test_capture_is_what_the_pieces_cost_above_the_whole(
    cost: CostModel, chosen: set[int], tail: int
) -> None:
    start, positions = 100, sorted(100 + position for position in chosen)
    stop = positions[-1] + tail
    edges = sorted({start, *positions, stop})
    pieces = sum(cost.prefill_seconds(a, b) for a, b in itertools.pairwise(edges))
    cutting = max(pieces - cost.prefill_seconds(start, stop), 0.0)
    copies = len(positions) * 10e-6
    captured = cost.capture_seconds(start, stop, positions)
    assert captured == pytest.approx(copies + cutting, rel=1e-9, abs=1e-12)
    assert captured >= copies * (1 - 1e-12)


def test_capture_worked_by_hand() -> None:
    cost = cost_model([64, 128], [100.0, 150.0], e=3.0)
    # 2 MiB at 5 us each; F(64) + F(64) - F(128) = 50.
    assert cost.capture_seconds(0, 128, []) == 0.0
    assert cost.capture_seconds(0, 128, [128]) == pytest.approx(10e-6)
    assert cost.capture_seconds(0, 128, [64]) == pytest.approx(60e-6)
    assert cost.capture_seconds(0, 128, [64, 128]) == pytest.approx(70e-6)


def test_cutting_repeats_the_price_of_the_context() -> None:
    cost = cost_model([1, 2], [1.0, 2.0], g=0.5)
    assert cost.capture_seconds(100, 140, [110, 120]) == pytest.approx((20 + 0.5 * 230) * 1e-6)


def test_a_stated_price_a_cut() -> None:
    cost = cost_model([64, 128], [100.0, 150.0], cut=7.0)
    assert cost.capture_seconds(0, 128, [64, 100, 128]) == pytest.approx((30 + 14) * 1e-6)


def test_cutting_never_earns_time() -> None:
    cost = cost_model([1, 2, 4], [1.0, 2.0, 400.0])
    assert cost.capture_seconds(0, 4, [2]) == pytest.approx(10e-6)


def test_restore() -> None:
    host = {"latency_us": 10.0, "gbps": 50.0}
    cost = cost_model(
        [1, 2], [1.0, 2.0], io={"d2d": {"latency_us": 2.0, "gbps": 1000.0}, "h2d": host}
    )
    assert cost.restore_seconds(0) == 0.0
    assert cost.restore_seconds(10**9) == pytest.approx(1e-3 + 2e-6)
    assert cost.restore_seconds(10**9, "host") == pytest.approx(20e-3 + 10e-6)
    for tier in ("disk", "moon"):
        with pytest.raises(UsageError, match=f"profile 'toy' has no figures for tier '{tier}'"):
            cost.restore_seconds(1, tier)

"""Compressed KV, replayed: bytes that are left, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.catalogue import open_profile
from policies.admission.always import Always
from policies.eviction.lru import Lru
from policies.placement.branch import Branch
from simulator.costs.profile import Profile
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from workloads.synthetic import SyntheticSpec, generate

CAPACITY = 2 * 2**30


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(SyntheticSpec(requests=150, documents=4))


def replayed(trace: Trace, profile: Profile, capacity: int | None) -> Result:
    scenario = Scenario(
        profile,
        placer=Branch,
        eviction=Lru,
        admission=Always,
        capacity_bytes=capacity,
        server="instant",
        check_every_request=True,
    )
    return simulate(trace, scenario)


def test_without_a_limit_a_share_changes_bytes_alone(trace: Trace) -> None:
    plain = open_profile("qwen3.5-9b-h200")
    half = open_profile("qwen3.5-9b-h200:kv=0.5")
    one, other = replayed(trace, plain, None), replayed(trace, half, None)
    assert (one.columns["saved_tokens"] == other.columns["saved_tokens"]).all()
    assert one.counters.kv_peak_bytes == 2 * other.counters.kv_peak_bytes
    assert one.counters.checkpoint_peak_bytes == other.counters.checkpoint_peak_bytes


def test_a_constant_budget_is_a_larger_state_and_no_kv(trace: Trace) -> None:
    profile = open_profile("qwen3.5-9b-h200:kv_budget=1024")
    slot = 1024 * 32_768
    byhand = replace(
        open_profile("qwen3.5-9b-h200"),
        state=replace(
            profile.state, bytes_per_checkpoint=profile.state.bytes_per_checkpoint + slot
        ),
        kv=replace(profile.kv, bytes_per_token=0),
    )
    for capacity in (None, CAPACITY):
        one, other = replayed(trace, profile, capacity), replayed(trace, byhand, capacity)
        for name, column in one.columns.items():
            assert np.array_equal(column, other.columns[name], equal_nan=column.dtype.kind == "f")
        assert one.counters == other.counters
        assert one.counters.kv_peak_bytes == 0
        states = one.counters.checkpoint_peak_bytes
        assert states % profile.state_bytes == 0
        assert capacity is None or states <= capacity

"""A tiny model and small traces for the prototype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simulator.costs.profile import Profile, parse_profile
from simulator.trace.trace import Trace
from workloads.arrivals import Poisson
from workloads.drift import read_drift
from workloads.synthetic import read_generator

DOCUMENTS = (
    "documents:count=3,tokens_median=150,template_tokens=16,instruction_tokens=8,"
    "question_tokens_median=20,answer_tokens_median=4"
)
CHATS = "chats:count=2,system_tokens_median=40,user_tokens_median=30,answer_tokens_median=30"


class CountingClock:
    """Says a second more with every call, so that what is measured is known."""

    def __init__(self, typical: str = "minimum") -> None:
        self.typical: Any = typical
        self.calls = 0

    def seconds(self, action: Callable[[], object]) -> float:
        action()
        self.calls += 1
        return float(self.calls)


def traffic(name: str, requests: int) -> Trace:
    return read_generator(name).trace(requests, 1, Poisson(1.0), read_drift(""))


@pytest.fixture(scope="session")
def documents() -> Trace:
    return traffic(DOCUMENTS, 16)


@pytest.fixture(scope="session")
def chats() -> Trace:
    """Chats, whose answers are known."""
    return traffic(CHATS, 14)


@pytest.fixture(scope="session")
def profile() -> Profile:
    """A profile with round numbers: 1 ms a token, 1 ms a capture, restores of 3 ms."""
    data: dict[str, Any] = {
        "schema_version": 1,
        "profile_id": "round",
        "kind": "toy",
        "source": "made up",
        "licence": "Apache-2.0",
        "created": "2026-11-30",
        "hardware": {"name": "none"},
        "model": {"name": "tiny"},
        "state": {"ssm_bytes": 2**20, "conv_bytes": 0, "bytes_per_checkpoint": 2**20},
        "kv": {"bytes_per_token": 1024},
        "prefill": {
            "F": {"n": [1, 10_001], "us": [5_000.0, 10_005_000.0]},
            "e_us_per_pair": 0.01,
            "valid": {"n_max": 10_000, "c_max": 10_000},
        },
        "checkpoint": {"cut_overhead": "prefill_table", "snapshot_us_per_mib": 1000.0},
        "io": {"d2d": {"latency_us": 3000.0, "gbps": 1e6}},
    }
    return parse_profile(data, "round")


@pytest.fixture(scope="session")
def model() -> Any:
    """One layer group, 64 wide, in float32."""
    from tests.calibration.tiny import tiny_model

    return tiny_model("qwen3.5")

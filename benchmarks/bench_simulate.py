"""Requests simulated a second, SimPy's clock and the final recount included."""

from __future__ import annotations

import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from simulator.simulation import Scenario, simulate

GIB = 2**30


@pytest.mark.parametrize("server", ["queue", "instant"])
@pytest.mark.parametrize(
    "capacity", [None, 512 * GIB, 64 * GIB], ids=["unbounded", "512GiB", "64GiB"]
)
@pytest.mark.parametrize("placer", ["dense", "last", "block:size=4096", "branch", "adaptive"])
def test_conversation_trace(benchmark, conversation, placer, capacity, server):
    profile = open_profile("qwen3.5-9b-h200")

    def fresh():
        scenario = Scenario(
            profile=profile,
            placer=create("placer", placer),
            eviction=create("eviction", "lru"),
            admission=create("admission", "always"),
            capacity_bytes=capacity,
            server=server,
        )
        return (conversation, scenario), {}

    benchmark.pedantic(simulate, setup=fresh, rounds=7, warmup_rounds=1)
    seconds = benchmark.stats.stats.min
    benchmark.extra_info["requests_per_second"] = round(len(conversation) / seconds)

"""Speed of simulation in requests per second, with SimPy's clock and the final checks."""

from __future__ import annotations

import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from simulator.base.compiled import STATE
from simulator.simulation import Scenario, simulate

GIB = 2**30


@pytest.mark.parametrize("server", ["queue", "instant"])
@pytest.mark.parametrize(
    "capacity", [None, 512 * GIB, 64 * GIB], ids=["unbounded", "512GiB", "64GiB"]
)
@pytest.mark.parametrize("placer", ["dense", "last", "block:size=4096", "branch", "adaptive"])
def test_conversation_trace(benchmark, conversation, placer, capacity, server):
    scenario = Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity,
        server=server,
    )
    benchmark.pedantic(simulate, args=(conversation, scenario), rounds=7, warmup_rounds=1)
    benchmark.extra_info["runs"] = STATE
    seconds = benchmark.stats.stats.min
    benchmark.extra_info["requests_per_second"] = round(len(conversation) / seconds)

"""Speed of generators and arrival processes: 200,000 requests each (pytest-benchmark)."""

from __future__ import annotations

import pytest

from workloads.arrivals import Poisson, read_process
from workloads.drift import Drift, read_drift
from workloads.synthetic import GENERATORS, read_generator

REQUESTS = 200_000
MIXTURE = "0.5 documents + 0.3 chats + 0.2 agents"
PROCESSES = ["poisson", "gamma:cv=3", "weibull:cv=3", "mmpp", "diurnal", "flash"]


@pytest.mark.parametrize("name", [*GENERATORS, MIXTURE])
def test_a_generator(benchmark, name):
    made = (REQUESTS, 0, Poisson(5.0), Drift())
    trace = benchmark.pedantic(read_generator(name).trace, made, rounds=3)
    benchmark.extra_info["prompt_tokens"] = int(trace.prompt_tokens.sum())


def test_every_drift_at_once(benchmark):
    drift = read_drift("shift:distance=0.3 + births:times=3 + rewrites:times=3 + growth:factor=3")
    made = (REQUESTS, 0, Poisson(5.0), drift)
    benchmark.pedantic(read_generator("documents").trace, made, rounds=3)


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process(benchmark, name):
    benchmark.pedantic(read_process(name).times, (REQUESTS, 0), rounds=3)

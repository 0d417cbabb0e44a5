"""Speed of the cost model: `python -m pytest benchmarks/bench_cost.py`.

The simulator calls both functions once per request, and should handle 100,000 requests a second.
"""

from __future__ import annotations

import random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calibration.catalogue import open_profile
from simulator.costs.cost_model import CostModel

PROMPTS = 10_000
PROMPT_TOKENS = 12_032


@pytest.fixture
def cost() -> CostModel:
    return CostModel(open_profile("qwen3.5-9b-h200"))


def test_prefill_of_10000_prompts(benchmark: BenchmarkFixture, cost: CostModel) -> None:
    rng = random.Random(1)
    spans = [(rng.randrange(0, 8000), rng.randrange(8001, 100_000)) for _ in range(PROMPTS)]
    benchmark(lambda: [cost.prefill_seconds(start, stop) for start, stop in spans])


@pytest.mark.parametrize("count", [0, 1, 8, 188])
def test_capture_of_10000_prompts(benchmark: BenchmarkFixture, cost: CostModel, count: int) -> None:
    step = PROMPT_TOKENS // 64 // count * 64 if count else 0
    positions = [step * (index + 1) for index in range(count)]
    benchmark(lambda: [cost.capture_seconds(0, PROMPT_TOKENS, positions) for _ in range(PROMPTS)])

"""Speed of placement: `pytest benchmarks/bench_placement.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from policies.placement.staircase import solve
from policies.registry import create
from simulator.entry import KvRun
from simulator.protocols import Overlap, Prefix

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

STATIC = (
    "none",
    "last",
    "block:size=1024",
    "dyadic",
    "balanced:budget=4",
    "balanced:budget=16",
    "sqrt",
    "random:budget=4",
    "branch",
)
LEARNED = ("optimal:budget=8", "optimal:budget=16", "greedy:budget=8")


def prefix(length: int = 12_000, resume: int = 4_000) -> Prefix:
    run = KvRun(KvRun(KvRun(None, 0, 0), 0, 9_000), 9_000, length)
    return Prefix(length, resume, resume, 64, -1, -1, run)


@pytest.mark.parametrize(("size", "budget"), [(100, 16), (1_000, 16), (10_000, 64)])
def test_solve(benchmark: BenchmarkFixture, size: int, budget: int) -> None:
    rng = np.random.default_rng(0)
    depths = np.sort(rng.choice(200_000, size, replace=False)) + 1
    weights = rng.random(size)
    benchmark(solve, depths, weights, budget)


@pytest.mark.parametrize("spec", STATIC)
def test_static_placer(benchmark: BenchmarkFixture, spec: str) -> None:
    benchmark(create("placer", spec).place, prefix())


@pytest.mark.parametrize("spec", LEARNED)
def test_learned_placer_per_request(benchmark: BenchmarkFixture, spec: str) -> None:
    """Observe and place once for each request, with a re-plan every ten."""
    placer = create("placer", spec)
    rng = np.random.default_rng(0)
    depths = (rng.pareto(1.0, 1_000) * 2_000).astype(int).tolist()
    prompts = [prefix(int(length), 0) for length in rng.integers(1_000, 30_000, 1_000)]

    def requests() -> None:
        for depth, prompt in zip(depths, prompts, strict=True):
            placer.observe(Overlap(depth, 1_000_000))
            placer.place(prompt)

    benchmark.pedantic(requests, rounds=5, warmup_rounds=1)

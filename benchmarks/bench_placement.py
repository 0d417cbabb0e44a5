"""Speed of checkpoint placement: `python -m pytest benchmarks/bench_placement.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from policies.placement.holding import best_holding
from policies.placement.joint import allocate
from policies.placement.priced import priced_positions
from policies.placement.staircase import solve
from policies.placement.tree_law import law_of_trace
from policies.placement.tree_solver import solve_tree
from policies.registry import create
from simulator.plugins.context import Sizes
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Prefix, Window
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

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
LEARNED = (
    "optimal:budget=8",
    "optimal:budget=16",
    "greedy:budget=8",
    "optimal:budget=8,coordinate=auto",
)


def prefix(length: int = 12_000, resume: int = 4_000) -> Prefix:
    run = KvSpan(KvSpan(KvSpan(None, 0, 0), 0, 9_000), 9_000, length)
    return Prefix(length, resume, resume, 64, -1, -1, run)


@pytest.mark.parametrize(("size", "budget"), [(100, 16), (1_000, 16), (10_000, 64)])
def test_solve(benchmark: BenchmarkFixture, size: int, budget: int) -> None:
    rng = np.random.default_rng(0)
    depths = np.sort(rng.choice(200_000, size, replace=False)) + 1
    weights = rng.random(size)
    benchmark(solve, depths, weights, budget)


@pytest.mark.parametrize("spec", STATIC)
def test_static_placer(benchmark: BenchmarkFixture, spec: str) -> None:
    prompt = prefix()
    benchmark(create("placer", spec).place, prompt, Window(prompt.resume, prompt.prompt_tokens))


@pytest.mark.parametrize("spec", LEARNED)
def test_learned_placer_per_request(benchmark: BenchmarkFixture, spec: str) -> None:
    """Time one observation and one placement per request, with a new plan every ten requests."""
    placer = create("placer", spec)
    rng = np.random.default_rng(0)
    depths = (rng.pareto(1.0, 1_000) * 2_000).astype(int).tolist()
    prompts = [prefix(int(length), 0) for length in rng.integers(1_000, 30_000, 1_000)]

    def requests() -> None:
        for depth, prompt in zip(depths, prompts, strict=True):
            placer.observe(Overlap(depth, 1_000_000))
            placer.place(prompt, Window(prompt.resume, prompt.prompt_tokens))

    benchmark.pedantic(requests, rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("size", [100, 10_000])
def test_priced(benchmark: BenchmarkFixture, size: int) -> None:
    rng = np.random.default_rng(0)
    depths = np.sort(rng.choice(200_000, size, replace=False)) + 1
    weights = rng.random(size)
    benchmark(priced_positions, depths, weights, 0.01 * float(depths @ weights))


def test_allocate_among_a_thousand_prefixes(benchmark: BenchmarkFixture) -> None:
    rng = np.random.default_rng(0)
    gains = -np.sort(-rng.random((1_000, 32)), axis=1)
    curves = list(np.concatenate((np.zeros((1_000, 1)), gains.cumsum(axis=1)), axis=1))
    benchmark(allocate, curves, 1, 8_000)


@pytest.fixture(scope="module")
def conversations() -> Trace:
    """Return the conversation trace: 12,031 requests, 15,788 nodes."""
    from workloads.opening import open_trace

    shared = Path(os.environ.get("MILEPOST_SHARED", "../shared"))
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    if not path.is_file():
        pytest.skip("no reference data (set MILEPOST_SHARED)")
    return open_trace(path, block=512)


@pytest.mark.parametrize("budget", [10, 100, 1_000])
def test_solve_tree(benchmark: BenchmarkFixture, conversations: Trace, budget: int) -> None:
    """Time building the overlap distribution of the whole prefix tree and solving for a plan."""
    grid = Grid(conversations.granularity, 1)
    benchmark(lambda: solve_tree(law_of_trace(conversations, grid), budget))


def test_bound_at_a_capacity(benchmark: BenchmarkFixture, conversations: Trace) -> None:
    grid, sizes = Grid(conversations.granularity, 1), Sizes(32_768, 50_000_000)
    benchmark(best_holding, conversations, grid, sizes, 100 * 10**9)

"""Speed of policies in the prefix cache: `python -m pytest benchmarks/bench_evictions.py`.

A round replays 2,000 requests for a skewed mix of documents through a cache of a tenth of their
total size, so a millisecond per round is half a microsecond per request. Compare each eviction
policy with `lru`, and each admission policy with `always`. `test_marconi_scores` times a single
decision of a policy that scores all candidates.
"""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calibration.catalogue import open_profile
from policies.admission import ADMISSION
from policies.eviction import EVICTION
from policies.eviction.marconi import MarconiEviction
from policies.registry import create
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from workloads.prefixes.interning import intern_blocks

REQUESTS, DOCUMENTS, BLOCK = 2_000, 300, 512


def mixed_trace() -> Trace:
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, DOCUMENTS + 1)
    documents = rng.choice(DOCUMENTS, REQUESTS, p=weights / weights.sum())
    shared = rng.integers(1, 20, DOCUMENTS)[documents]
    own = rng.integers(1, 6, REQUESTS)
    rows = [
        [*(document * 100 + np.arange(s)), *(10**6 + request * 10 + np.arange(o))]
        for request, (document, s, o) in enumerate(zip(documents, shared, own, strict=True))
    ]
    offsets = np.cumsum([0, *map(len, rows)])
    keys = np.concatenate([np.asarray(row, dtype=np.uint64) for row in rows])
    interned = intern_blocks(keys, offsets, np.diff(offsets) * BLOCK, BLOCK)
    unknown = np.full(REQUESTS, -1, dtype=np.int32)
    return Trace(
        "mix",
        interned.tree,
        interned.leaf,
        np.arange(REQUESTS, dtype=np.float64),
        np.zeros(REQUESTS, dtype=np.int64),
        unknown,
        unknown,
        granularity=BLOCK,
    )


TRACE = mixed_trace()
PROFILE = open_profile("qwen3.5-9b-h200")


@pytest.mark.parametrize("name", EVICTION)
def test_policy(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark(lambda: run(name, "always"))


@pytest.mark.parametrize("name", ADMISSION)
def test_admission(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark(lambda: run("lru", name))


def run(eviction: str, admission: str) -> None:
    nodes = TRACE.tree
    needed_bytes = int((nodes.stop - nodes.start).sum()) * PROFILE.kv_bytes_per_token
    scenario = Scenario(
        profile=PROFILE,
        placer=lambda: create("placer", "branch"),
        eviction=lambda: create("eviction", eviction),
        admission=lambda: create("admission", admission),
        capacity_bytes=needed_bytes // 10,
        server="instant",
    )
    simulate(TRACE, scenario)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_marconi_scores(benchmark: BenchmarkFixture, alpha: float) -> None:
    policy = MarconiEviction(alpha=alpha)
    root = KvSpan(None, -1, 0)
    for position in range(1, 10_001):
        entry = Checkpoint(root, position, 10)
        policy.on_insert(entry)
        policy.on_hit(entry)
    benchmark(policy.victim)

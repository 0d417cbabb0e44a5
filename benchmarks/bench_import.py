"""Import, inspection and generation of traces (pytest-benchmark; needs MILEPOST_SHARED)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workloads.inspection import inspect
from workloads.opening import open_trace
from workloads.store import load, save
from workloads.synthetic import SyntheticSpec, generate

SHARED = Path(os.environ.get("MILEPOST_SHARED", Path(__file__).parents[2] / "shared"))
CONVERSATION = SHARED / "data" / "mooncake" / "conversation_trace.jsonl.gz"

needs_shared = pytest.mark.skipif(
    not CONVERSATION.exists(), reason=f"no reference data at {SHARED} (set MILEPOST_SHARED)"
)


@needs_shared
def test_import_of_the_conversation_trace(benchmark):
    trace = benchmark(open_trace, CONVERSATION)
    benchmark.extra_info["requests"] = len(trace)


@needs_shared
def test_inspection_of_the_conversation_trace(benchmark):
    benchmark(inspect, open_trace(CONVERSATION))


@needs_shared
def test_opening_the_saved_conversation_trace(benchmark, tmp_path):
    save(open_trace(CONVERSATION), tmp_path / "trace.parquet")
    benchmark(load, tmp_path / "trace.parquet")


@pytest.mark.parametrize("requests", [4_000, 100_000])
def test_generation_of_the_built_in_workload(benchmark, requests):
    benchmark(generate, SyntheticSpec(requests=requests))

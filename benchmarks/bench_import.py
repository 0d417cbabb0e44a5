"""Speed of import, inspection and generation of traces (pytest-benchmark; MILEPOST_SHARED)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

from workloads.formats.dynamo import SCHEMA
from workloads.inspection import inspect
from workloads.opening import open_trace
from workloads.store import load, save
from workloads.synthetic import SyntheticSpec, generate

SHARED = Path(os.environ.get("MILEPOST_SHARED", Path(__file__).parents[2] / "shared"))
CONVERSATION = SHARED / "data" / "mooncake" / "conversation_trace.jsonl.gz"
SESSIONS = SHARED / "data" / "kv_cache_tester" / "sessions_rle.jsonl.gz"

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


@needs_shared
def test_import_of_710_agent_sessions(benchmark):
    trace = benchmark.pedantic(open_trace, (SESSIONS,), rounds=3)
    benchmark.extra_info["requests"] = len(trace)
    benchmark.extra_info["prompt_tokens"] = int(trace.prompt_tokens.sum())


@needs_shared
def test_opening_the_saved_agent_sessions(benchmark, tmp_path):
    save(open_trace(SESSIONS), tmp_path / "trace.parquet")
    benchmark(load, tmp_path / "trace.parquet")


@pytest.mark.parametrize("name", ["mooncake", "bailian", "dynamo"])
def test_import_of_lines_with_ids(benchmark, name, tmp_path):
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(b"".join(encode(_line(name, number)) + b"\n" for number in range(20_000)))
    benchmark.extra_info["requests"] = 20_000
    benchmark(open_trace, path)


def _line(name: str, number: int) -> dict[str, Any]:
    """Return a line with a request of 16 blocks, half shared with 1 % of the other requests."""
    ids = [number % 100 * 8 + at for at in range(8)] + [10**6 + 8 * number + at for at in range(8)]
    lengths = {"input_length": 256, "output_length": 9}
    if name == "mooncake":
        return {"timestamp": 50 * number, "hash_ids": ids, "block_size": 16} | lengths
    if name == "bailian":
        chat = {"chat_id": number, "parent_chat_id": number - 1 if number % 4 else -1}
        return chat | {"timestamp": number / 20, "type": "text", "hash_ids": ids} | lengths
    replay = {"trace_block_size": 16, "input_length": 256, "input_sequence_hashes": ids}
    request = {"request_received_ms": 50 * number, "output_tokens": 9, "replay": replay}
    return {"schema": SCHEMA, "event_type": "request_end", "request": request}


@pytest.mark.parametrize("requests", [4_000, 100_000])
def test_generation_of_the_built_in_workload(benchmark, requests):
    benchmark(generate, SyntheticSpec(requests=requests))

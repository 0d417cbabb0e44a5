"""Every file of the reference data in a native format opens by itself."""

from __future__ import annotations

import pytest

from workloads.opening import format_of, open_trace

FILES = {
    "azure_style_trace.csv": ("azure", 20),
    "llmservingsim_example_trace.jsonl": ("llmservingsim", 10),
    "mooncake_conversation_first20.jsonl": ("mooncake", 20),
    "otel_prefix_sharing_example.json": ("otel", 7),
    "splitwise_test_trace.csv": ("splitwise", 3),
    "tracelab_multi_session_example.csv": ("tracelab", 8),
    "tracelab_multi_session_large.csv": ("tracelab", 303),
    "tracelab_round_trace_sanitized.jsonl": ("tracelab-rounds", 19),
    "tracelab_session_workload_example.csv": ("tracelab", 11),
    "weka_trace_0291_subagent.json": ("kv-cache-tester", None),
    "weka_trace_0504.json": ("kv-cache-tester", None),
}


def test_the_table_is_complete(shared):
    folder = shared / "data" / "format_fixtures"
    assert {path.name for path in folder.iterdir()} - {"README.md"} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_opens_without_options(shared, name):
    path = shared / "data" / "format_fixtures" / name
    format, requests = FILES[name]
    assert format_of(path) == format
    trace = open_trace(path)
    assert trace.problem() is None
    assert len(trace) > 0
    assert requests is None or len(trace) == requests

from __future__ import annotations

import json

import pytest

from simulator.base.errors import UsageError
from workloads.export import export_mooncake
from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.synthetic import SyntheticSpec, generate


@pytest.mark.parametrize("block", [1, 7, 64, 512])
@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_round_trip_keeps_columns_and_overlaps_to_the_block(tmp_path, block, name):
    trace = generate(SyntheticSpec(requests=200, documents=8, document_tokens_median=500))
    export_mooncake(trace, tmp_path / name, block=block)
    back = open_trace(tmp_path / name)
    assert (back.prompt_tokens == trace.prompt_tokens).all()
    assert (back.output_tokens == trace.output_tokens).all()
    assert (back.session == trace.session).all()
    assert [back.labels[at] for at in back.label] == [trace.labels[at] for at in trace.label]
    assert (back.arrival_seconds == trace.arrival_seconds).all()
    assert (overlaps(back) == overlaps(trace) // block * block).all()
    assert back.notes == ()


def test_a_repeated_prompt_is_matched_to_its_end(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"input_length": 10, "hash_ids": [7, 9]}\n' * 2)
    export_mooncake(open_trace(path, block=8), tmp_path / "again.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    row = {"input_length": 10, "output_length": 0, "hash_ids": [0, 1], "block_size": 8}
    assert rows == [row] * 2


def test_the_conversation_trace_keeps_every_overlap(shared, tmp_path):
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    trace = open_trace(path)
    export_mooncake(trace, tmp_path / "t.jsonl.gz")
    back = open_trace(tmp_path / "t.jsonl.gz")
    assert (overlaps(back) == overlaps(trace)).all()
    assert (back.arrival_seconds == trace.arrival_seconds).all()


def test_the_same_trace_gives_the_same_bytes_under_any_name(tmp_path):
    trace = generate(SyntheticSpec(requests=20))
    export_mooncake(trace, tmp_path / "one.gz")
    export_mooncake(trace, tmp_path / "other.gz")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


def test_what_cannot_be_written_is_a_usage_error(tmp_path):
    trace = generate(SyntheticSpec(requests=2))
    with pytest.raises(UsageError, match="block"):
        export_mooncake(trace, tmp_path / "t", block=0)
    with pytest.raises(UsageError, match="cannot be written"):
        export_mooncake(trace, tmp_path / "absent" / "t")
    assert list(tmp_path.iterdir()) == []

from __future__ import annotations

import gzip
import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

SCHEMA = "dynamo.request.trace.v1"


def event(received, length, hashes, *, block=64, session=None, **request):
    replay = {"trace_block_size": block, "input_length": length, "input_sequence_hashes": hashes}
    record = {
        "schema": SCHEMA,
        "event_type": "request_end",
        "event_time_unix_ms": received + 900,
        "request": {
            "request_id": "r",
            "request_received_ms": received,
            "output_tokens": 16,
            "replay": replay,
        }
        | request,
    }
    if session is not None:
        record["agent_context"] = {"session_id": session, "parent_session_id": "other"}
    return record


TOOL = {"schema": SCHEMA, "event_type": "tool_end", "event_time_unix_ms": 3, "tool": {"x": 1}}
HIGH = 14879255164371896291
START = 1_777_312_800_000
ROWS = [
    event(START, 128, [HIGH, HIGH - 1], session="a", model="m", input_tokens=128),
    TOOL,
    event(START + 1500, 150, [HIGH, HIGH - 1, 7], session="a"),
    event(START + 1250, 70, [HIGH, 9], output_tokens=0),
]


@pytest.fixture
def write(tmp_path):
    def write(*rows, name="t.jsonl"):
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    return write


@pytest.mark.parametrize("wrapped", [False, True])
def test_columns_are_read_from_events_plain_or_wrapped(write, wrapped):
    rows = [{"timestamp": 5, "event": row} for row in ROWS] if wrapped else ROWS
    path = write(*rows)
    assert format_of(path) == "dynamo"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [128, 70, 150]
    assert trace.output_tokens.tolist() == [16, 0, 16]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1.25, 1.5]
    assert trace.session.tolist() == [0, -1, 0]
    assert trace.labels == ("m",)
    assert trace.label.tolist() == [0, -1, -1]
    assert trace.granularity == 64
    assert overlaps(trace).tolist() == [0, 64, 128]


def test_shards_in_a_folder_are_one_trace(tmp_path):
    for number, row in enumerate(ROWS):
        shard = tmp_path / f"trace.{number:06}.jsonl.gz"
        shard.write_bytes(gzip.compress(json.dumps(row).encode()))
    (tmp_path / "notes.txt").write_text("x")
    assert format_of(tmp_path) == "dynamo"
    assert overlaps(open_trace(tmp_path)).tolist() == [0, 64, 128]


def test_a_request_without_hashes_has_only_its_length(write):
    bare = event(START, 1, [], replay=None, input_tokens=300)
    del bare["request"]["output_tokens"]
    trace = open_trace(write(bare, *ROWS))
    assert trace.prompt_tokens.tolist() == [300, 128, 70, 150]
    assert trace.granularity == 64
    assert overlaps(trace).tolist() == [0, 0, 64, 128]
    assert any(note.startswith("no-hashes: 1 x") for note in trace.notes)
    assert any(note.startswith("missing-output: 1 x") for note in trace.notes)


def test_shards_of_different_block_sizes_share_nothing(write):
    trace = open_trace(write(ROWS[0], event(START, 128, [HIGH, 3], block=96)))
    assert trace.granularity == 32
    assert overlaps(trace).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROWS[0] | {"schema": "v2"}, "field 'schema': expected dynamo.request.trace.v1"),
        (ROWS[0] | {"event_type": "other"}, "field 'event_type': expected request_end"),
        (ROWS[0] | {"request": None}, "field 'request': expected this field, found none"),
        (event(1, 9, [1], replay=None), "field 'request.replay': expected this field"),
        (event(1, 9, [1], input_tokens=8), "field 'request.input_tokens': expected that of replay"),
        (event(1, 0, []), "field 'request.replay.input_length': expected 1 to"),
        (event(1, 64, [1, 2]), "input_sequence_hashes': expected at most 1 for 64 tokens"),
        (event(1, 64, [1], block=0), "field 'request.replay.trace_block_size': expected 1 to"),
        (event(1, 64, [1], output_tokens=-1), "field 'request.output_tokens': expected 0 to"),
        (event(-1, 64, [1]), "field 'request.request_received_ms': expected a time from 0"),
        (
            event(1, 64, [1], request_received_ms="soon"),
            "field 'request.request_received_ms': expected a number, found text",
        ),
    ],
)
def test_a_bad_line_fails_with_its_place_or_is_skipped(write, row, message):
    path = write(ROWS[0], row, ROWS[2])
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 2


def test_a_file_without_a_request_is_refused(write):
    with pytest.raises(DataError, match="expected a request_end event, found none"):
        open_trace(write(TOOL))

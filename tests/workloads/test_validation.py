from __future__ import annotations

import json

import pytest

from simulator.errors import DataError
from workloads.opening import open_trace
from workloads.store import save
from workloads.validation import validate


def found(tmp_path, rows, **arguments):
    path = tmp_path / "t.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines))
    return {
        anomaly.what: (anomaly.count, anomaly.first_line)
        for anomaly in validate(path, block=16, **arguments)
    }


def row(time, ids, length=None, output=1):
    length = 16 * len(ids) if length is None else length
    return {"timestamp": time, "input_length": length, "output_length": output, "hash_ids": ids}


def test_a_clean_file_has_no_anomaly(tmp_path):
    assert found(tmp_path, [row(0, [0, 1]), row(100, [0, 2]), row(200, [3])]) == {}


def test_every_anomaly_is_counted_and_its_first_line_named(tmp_path):
    rows = [
        row(5000, [0, 1]),
        "",
        "broken",
        row(4000, [0, 2], output=0),
        row(4000, [0, 2], output=0),
        row(6000, [0, 1, 5], length=60),
        row(7000, [0, 1], length=60),
        row(8000, [9, 9, 9, 9]),
        "{}",
        row(9000, []) | {"input_length": 40},
    ]
    assert found(tmp_path, rows) == {
        "bad-line": (2, 3),
        "unsorted": (1, 4),
        "equal-times": (1, 5),
        "zero-output": (2, 4),
        "duplicate": (1, 5),
        "no-id-for-partial-block": (1, 6),
        "too-few-ids": (2, 7),
        "content-ids": (1, 8),
    }


def test_missing_times_are_told(tmp_path):
    plain = {"input_length": 16, "output_length": 1, "hash_ids": [1]}
    assert found(tmp_path, [plain]) == {"no-times": (1, 1)}


@pytest.mark.parametrize("step_ms", [1e9, 1e-4])
def test_an_implausible_span_is_a_warning(tmp_path, step_ms):
    rows = [row(step_ms * at, [at]) for at in range(50)]
    assert found(tmp_path, rows) == {"implausible-span": (50, 1)}


def test_a_file_of_bad_lines_is_counted_whole(tmp_path):
    assert found(tmp_path, ["x", "y", "z"], format="mooncake") == {"bad-line": (3, 1)}


def test_only_bad_lines_are_errors(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(row(0, [1], output=0)) + "\nx")
    assert [(a.what, a.error) for a in validate(path, block=16, format="mooncake")] == [
        ("bad-line", True),
        ("zero-output", False),
    ]


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="empty"):
        found(tmp_path, [])


def test_a_saved_trace_tells_its_notes(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(row(time, [time])) for time in (2000, 1000)))
    save(open_trace(path, block=16), tmp_path / "t.parquet")
    assert [a.what for a in validate(tmp_path / "t.parquet")] == ["note"]


def test_the_conversation_trace_is_as_described(shared):
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    counts = {anomaly.what: anomaly.count for anomaly in validate(path)}
    assert counts == {"equal-times": 12_031 - 1_180, "duplicate": 1}

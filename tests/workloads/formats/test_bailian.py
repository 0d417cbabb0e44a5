from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate


def row(chat, parent, time, ids, turn=1, kind="text", **others):
    return {
        "chat_id": chat,
        "parent_chat_id": parent,
        "timestamp": time,
        "input_length": 16 * len(ids),
        "output_length": 7,
        "type": kind,
        "turn": turn,
        "hash_ids": ids,
    } | others


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    return write


ROWS = [
    row(10, -1, 0.5, [1, 2]),
    row(11, -1, 1.25, [1, 3], kind="search"),
    row(12, 10, 3.0, [1, 2, 4, 5], turn=2),
    row(13, 12, 9.5, [1, 2, 4, 5, 6], turn=3),
    row(14, 99, 9.5, [1, 2, 7], turn=2, kind="file", input_length=40),
    row(15, 99, 11, [1, 2, 7, 8], turn=2),
    row(16, 11, 12, [3, 1], turn=2),
]


def test_columns_are_read_in_seconds_with_sessions_and_labels(write):
    path = write(*ROWS)
    assert format_of(path) == "bailian"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [32, 32, 64, 80, 40, 64, 32]
    assert trace.output_tokens.tolist() == [7] * 7
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 0.75, 2.5, 9, 9, 10.5, 11.5]
    assert [trace.labels[at] for at in trace.label[:5]] == [
        "text",
        "search",
        "text",
        "text",
        "file",
    ]
    assert trace.granularity == 16
    # ids name the content of blocks: 3 follows 1 in one row and stands first in another
    assert overlaps(trace).tolist() == [0, 16, 32, 64, 32, 40, 0]


def test_a_session_is_the_root_of_a_chain_of_parents(write):
    trace = open_trace(write(*ROWS))
    assert trace.session.tolist() == [0, 1, 0, 0, 2, 2, 1]


def test_a_parent_may_come_later_in_the_file(write):
    trace = open_trace(write(row(3, 2, 5, [1]), row(2, 1, 3, [1]), row(1, -1, 0, [1])))
    assert trace.session.tolist() == [0, 0, 0]


def test_oddities_are_found(write):
    rows = [*ROWS, row(20, 21, 13, [9]), row(21, 20, 14, [9]), row(21, -1, 15, [9])]
    anomalies = {
        anomaly.what: (anomaly.count, anomaly.first_line) for anomaly in validate(write(*rows))
    }
    expected = {
        "unknown-parent": (2, 5),
        "parent-not-repeated": (1, 7),
        "parent-cycle": (1, 8),
        "chat-twice": (1, 10),
    }
    assert {what: anomalies.get(what) for what in expected} == expected


def test_a_long_chain_told_backwards_takes_no_time(write):
    rows = [row(at, at - 1, 1, [1]) for at in range(20_000, 0, -1)]
    assert set(open_trace(write(*rows)).session.tolist()) == {0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chat_id": "a"}, "field 'chat_id': expected a whole number"),
        ({"parent_chat_id": None}, "field 'parent_chat_id': expected a whole number"),
        ({"timestamp": -0.5}, "field 'timestamp': expected a time from 0"),
        ({"timestamp": None}, "field 'timestamp': expected a number"),
        ({"input_length": 0}, "field 'input_length': expected 1 to"),
        ({"output_length": -1}, "field 'output_length': expected 0 to"),
        ({"hash_ids": [1, 2, 3]}, "field 'hash_ids': expected at most 2 for 32 tokens"),
    ],
)
def test_a_bad_line_fails_with_its_place_or_is_skipped(write, change, message):
    path = write(ROWS[0], ROWS[0] | change, ROWS[1])
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 2

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

ONE = {"input_toks": 3, "output_toks": 2, "arrival_time_ns": 1_000_000_000}
WITH_IDS = ONE | {"input_tok_ids": [5, 6, 7], "output_tok_ids": [8, 9]}


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path

    return write


def test_ids_make_prompts_and_answers_exact_to_the_token(write):
    path = write(
        WITH_IDS,
        WITH_IDS
        | {"input_toks": 5, "input_tok_ids": [5, 6, 7, 8, 1], "arrival_time_ns": 1_000_000_500},
        ONE | {"input_toks": 2, "input_tok_ids": [5, 6], "arrival_time_ns": 3_000_000_000},
    )
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [3, 5, 2]
    assert trace.output_tokens.tolist() == [2, 2, 2]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 5e-7, 2]
    assert overlaps(trace).tolist() == [0, 4, 2]  # the answer's first token too
    assert trace.after is not None
    assert trace.tree.stop[trace.after].tolist()[:2] == [5, 7]
    assert trace.after[2] == -1
    assert trace.granularity == 1


def test_without_ids_only_lengths_are_known(write):
    path = write(ONE, ONE | {"input_toks": 9}, ONE | {"input_toks": 0})
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [3, 9]
    assert overlaps(trace).tolist() == [0, 0]
    assert {"no-prefixes", "empty-prompt"} <= {anomaly.what for anomaly in validate(path)}


def session(**others):
    calls = [
        {"input_toks": 100, "output_toks": 50, "tool_duration_ns": 500_000_000},
        {"input_toks": 30, "output_toks": 10, "tool_duration_ns": 0},
        {"input_toks": 40, "output_toks": 5},
    ]
    return {"session_id": "s", "arrival_time_ns": 0, "sub_requests": calls} | others


def test_sub_requests_come_after_the_answer_before_and_their_tool(write):
    path = write(session(), ONE)
    trace = open_trace(path)
    assert trace.arrival_seconds is not None
    # 50 answer tokens at 50 a second and half a second of the tool; then 10 tokens
    assert trace.arrival_seconds.tolist() == pytest.approx([0, 1, 1.5, 1.7])
    assert trace.session.tolist() == [0, -1, 0, 0]
    assert trace.prompt_tokens.tolist() == [100, 3, 30, 40]
    assert any(note.startswith("closed-loop: 2 x") for note in trace.notes)
    assert "shrinking-turn" in {anomaly.what for anomaly in validate(path)}


def test_incremental_sub_requests_grow(write):
    path = write(session())
    trace = open_trace(path, rows="incremental")
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [100, 180, 230]
    assert overlaps(trace).tolist() == [0, 150, 190]
    with pytest.raises(UsageError, match="names whole prompts"):
        open_trace(write(WITH_IDS), rows="incremental")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ONE, "field 'input_tok_ids': expected ids on every request or on none"),
        (WITH_IDS | {"input_toks": 4}, "field 'input_tok_ids': expected 4 ids as 'input_toks'"),
        (WITH_IDS | {"output_toks": 1}, "field 'output_tok_ids': expected 1 ids"),
        (WITH_IDS | {"input_tok_ids": [1, -2, 3]}, "field 'input_tok_ids[1]': expected a token id"),
        (WITH_IDS | {"input_tok_ids": [1, 2, 1 << 31]}, "field 'input_tok_ids[2]'"),
        (WITH_IDS | {"arrival_time_ns": -1}, "field 'arrival_time_ns': expected a time from 0"),
        (WITH_IDS | {"arrival_time_ns": 1.5}, "field 'arrival_time_ns': expected a whole number"),
        ({"arrival_time_ns": 0, "output_toks": 2}, "field 'input_toks': expected this field"),
        ({"arrival_time_ns": 0, "input_toks": 2}, "field 'output_toks': expected this field"),
        (
            {"arrival_time_ns": 0, "sub_requests": [{"input_toks": 1, "output_toks": -1}]},
            "field 'input_tok_ids'",
        ),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, row, message):
    path = write(WITH_IDS, row, WITH_IDS)
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert overlaps(open_trace(path, on_bad_line="skip")).tolist() == [0, 3]


def test_the_published_file(shared):
    path = shared / "data" / "format_fixtures" / "llmservingsim_example_trace.jsonl"
    assert format_of(path) == "llmservingsim"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [10, 22, 16, 4, 13, 15, 15, 2, 18, 5]
    assert trace.output_tokens.tolist() == [70, 104, 69, 12, 96, 63, 84, 9, 58, 26]
    # by eye, answers of earlier requests included
    assert overlaps(trace).tolist() == [0, 7, 5, 1, 8, 6, 10, 0, 8, 1]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds[-1] == pytest.approx(1.026970077 - 0.046926808, abs=1e-9)
    assert {anomaly.what for anomaly in validate(path)} <= {"short-prompt"}

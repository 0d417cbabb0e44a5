from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace


def event(kind, time):
    return {"event_type": kind, "timestamp": f"2026-06-01T05:{time}Z"}


def row(index, prefix, new, output, *events, **others):
    return {
        "session_id": "claude:1",
        "round_index": index,
        "model": "m",
        "input_tokens_total": prefix + new,
        "prefix_tokens": prefix,
        "newly_append_tokens": new,
        "output_tokens": output,
        "timing_events": [*events],
        "reasoning_output_tokens": None,
    } | others


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path

    return write


ROWS = [
    row(0, 40, 60, 10, event("user_message", "40:20.151"), event("text", "40:29.5")),
    row(
        1,
        110,
        20,
        5,
        event("tool_result", "41:00.151"),
        event("tool_result", "41:07.5"),
        event("text", "41:09"),
    ),
    row(2, 90, 20, 5, event("reasoning", "42:20.151"), event("text", "43:00")),
]


def test_rounds_come_with_their_last_input_and_keep_their_prefix(write):
    trace = open_trace(write(*ROWS))
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [100, 130, 110]
    assert trace.output_tokens.tolist() == [10, 5, 5]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == pytest.approx([0, 47.349, 120])
    assert overlaps(trace).tolist() == [0, 110, 90]
    assert trace.labels == ("m",)
    assert {note.partition(":")[0] for note in trace.notes} == {"unknown-prefix", "rewind"}


def test_rounds_without_a_date_are_left_out_and_noted(write):
    trace = open_trace(write(ROWS[0], row(1, 110, 20, 5), row(2, 110, 9, 1, event("x", "45:00"))))
    assert trace.prompt_tokens.tolist() == [100, 119]
    assert "no-time: 1 x a round without a dated event: left out" in trace.notes


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"input_tokens_total": 131}, "field 'input_tokens_total': expected 110 + 20 tokens"),
        ({"newly_append_tokens": None}, "field 'newly_append_tokens': expected a whole number"),
        ({"output_tokens": -1}, "field 'output_tokens': expected 0 to"),
        ({"prefix_tokens": -110}, "field 'input_tokens_total'"),
        ({"session_id": None}, "field 'session_id': expected text"),
        ({"timing_events": [event("x", "99:00")]}, "field 'timing_events': expected a time like"),
        ({"timing_events": [{"event_type": "x", "timestamp": 5}]}, "field 'timing_events[0]"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, others, message):
    path = write(ROWS[0], ROWS[1] | others, ROWS[2])
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [100, 110]


def test_the_published_file(shared):
    path = shared / "data" / "format_fixtures" / "tracelab_round_trace_sanitized.jsonl"
    assert format_of(path) == "tracelab-rounds"
    trace = open_trace(path)
    assert trace.problem() is None
    assert len(trace) == 19
    assert trace.prompt_tokens.sum() == 514_012
    assert trace.output_tokens.sum() == 11_335
    assert trace.labels == ("gpt-5.4", "claude-opus-4-8")  # the earlier one stands second
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    # but for the two first rounds, each prefix is within the context before it
    kept = sum(line["prefix_tokens"] for line in lines if line["round_index"])
    assert overlaps(trace).sum() == kept

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

ASSISTANT = "<|im_start|>assistant\n"
END = "<|im_end|>\n"


def turn(text, role="user"):
    return f"<|im_start|>{role}\n{text}{END}"


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "inputs.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path

    return write


def test_single_turns_stand_alone(write):
    path = write(
        {"text": "Hello there", "timestamp": 500, "output_length": 5, "session_id": "s"},
        {"texts": ["Hello", "there"], "timestamp": 1500.5, "session_id": "s"},
        {"texts": [{"name": "f", "contents": ["Hello there"]}], "timestamp": 2000},
        {"text_input": "Hello there", "timestamp": 2500, "output_length": 1},
    )
    assert format_of(path) == "aiperf"
    trace = open_trace(path, tokenizer="bytes")
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [len(turn("Hello there") + ASSISTANT)] * 4
    assert trace.output_tokens.tolist() == [5, 0, 0, 1]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1.0005, 1.5, 2]
    assert trace.session.tolist() == [0, 0, -1, -1]
    whole, start = len(turn("Hello there") + ASSISTANT), len("<|im_start|>user\nHello")
    assert overlaps(trace).tolist() == [0, start, whole, whole]


def test_turns_of_a_session_stand_on_the_history_with_unknown_answers(write):
    session = {
        "session_id": "a",
        "turns": [
            {"role": "system", "text": "Be brief"},
            {"text": "One", "output_length": 7},
            {"text": "Two", "output_length": 3, "delay": 1000},
        ],
    }
    path = write(session, session | {"session_id": "b"})
    trace = open_trace(path, tokenizer="bytes")
    assert trace.problem() is None
    first = len(turn("Be brief", "system") + turn("One") + ASSISTANT)
    second = first + 7 + len(END + turn("Two") + ASSISTANT)
    assert trace.prompt_tokens.tolist() == [first, first, second, second]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == pytest.approx([0, 0, 1.14, 1.14])
    assert trace.session.tolist() == [0, 1, 0, 1]
    # the answers of the two sessions have nothing in common
    assert overlaps(trace).tolist() == [0, first, first + 7, first + 7]
    anomalies = {anomaly.what: anomaly.count for anomaly in validate(path)}
    assert anomalies["closed-loop"] == 2
    assert anomalies["sessions-at-once"] == 2


def test_an_answer_of_unknown_length_is_left_out_and_noted(write):
    path = write({"turns": [{"text": "One"}, {"text": "Two"}]})
    trace = open_trace(path, tokenizer="bytes")
    first = len(turn("One") + ASSISTANT)
    assert trace.prompt_tokens.tolist() == [first, first + len(END + turn("Two") + ASSISTANT)]
    assert trace.arrival_seconds is None
    assert any(note.startswith("unknown-answer: 2 x") for note in trace.notes)


def test_lengths_grow_by_session_unless_told_otherwise(write):
    path = write(
        {"session_id": "a", "input_length": 50, "output_length": 10},
        {"session_id": "a", "input_length": 60, "output_length": 10, "delay": 300},
        {"session_id": "b", "input_length": 9, "output_length": 1},
    )
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [50, 9, 120]
    assert overlaps(trace).tolist() == [0, 0, 60]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == pytest.approx([0, 0, 0.5])
    assert open_trace(path, rows="cumulative").prompt_tokens.tolist() == [50, 9, 60]
    assert "growing-turn" in {anomaly.what for anomaly in validate(path)}


def test_session_starts_can_be_spread_where_nothing_tells_them(write):
    turns = {"turns": [{"text": "One"}, {"text": "Two", "delay": 50}]}
    trace = open_trace(write(turns, turns), session_rate=0.001)
    assert trace.session.tolist() == [0, 0, 1, 1]
    stamped = {"session_id": "a", "turns": [{"text": "One", "timestamp": 5}]}
    with pytest.raises(UsageError, match="session_rate"):
        open_trace(write(stamped), session_rate=1.0)


def test_media_are_passed_over_and_noted(write):
    trace = open_trace(write({"text": "Look", "image": "a.png"}, {"text": "Look", "images": []}))
    assert any(note.startswith("media: 1 x") for note in trace.notes)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input_length": 5}, "field 'text': expected a text as on the first line"),
        ({"text": 5, "timestamp": 1}, "field 'text': expected text"),
        ({"text": "x"}, "field 'timestamp': expected a time as on other lines"),
        ({"text": "x", "timestamp": -1}, "field 'timestamp': expected a time from 0"),
        ({"text": "x", "timestamp": 1, "delay": -1}, "field 'delay': expected a time from 0"),
        ({"text": "x", "timestamp": 1, "output_length": -1}, "field 'output_length': expected 0"),
        ({"turns": []}, "field 'turns': expected at least one turn"),
        ({"turns": [{"text": "x", "timestamp": 1}, {"role": "user"}]}, "field 'turns[1].text'"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, row, message):
    good = {"text": "One", "timestamp": 5}
    path = write(good, row, good)
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 2


def test_a_first_line_without_content_decides_nothing(write):
    path = write({"turns": [{"role": "user"}]}, {"text": "One"})
    with pytest.raises(DataError, match=r":1: field 'turns\[0\].text': expected a text or an"):
        open_trace(path)
    assert len(open_trace(path, format="aiperf", on_bad_line="skip")) == 1


@pytest.mark.parametrize("name", ["cache_salt", "lora_name", "model"])
def test_turns_of_two_keys_share_nothing(write, name):
    turns = [{"text": "a b c", "timestamp": 0, name: key} for key in "xyx"]
    path = write(*({"session_id": str(at), "turns": [turn]} for at, turn in enumerate(turns)))
    trace = open_trace(path, tokenizer="bytes")
    assert overlaps(trace).tolist() == [0, 0, trace.prompt_tokens[2]]
    assert any(note.startswith(f"prefixes are kept apart by {name} (2") for note in trace.notes)


def test_what_a_line_says_of_its_key_holds_where_its_turns_say_nothing_else(write):
    turns = [{"text": "a", "timestamp": 0}, {"text": "a", "timestamp": 1, "cache_salt": "y"}]
    lines = [{"lora_id": key, "turns": turns} for key in "pqp"]
    trace = open_trace(write(*lines), tokenizer="bytes", rows="cumulative")
    whole = trace.prompt_tokens[0]
    assert overlaps(trace).tolist() == [0, 0, whole, 0, 0, whole]
    trace = open_trace(write({"turns": turns}), tokenizer="bytes", rows="cumulative")
    assert overlaps(trace).tolist() == [0, 0]


def test_times_may_be_called_time(write):
    path = write({"time": 0, "input_length": 9}, {"time": 3000, "input_length": 9})
    assert open_trace(path).arrival_seconds.tolist() == [0, 3]
    path = write({"timestamp": 5, "time": "noon", "input_length": 9})
    assert open_trace(path).arrival_seconds.tolist() == [0]
    with pytest.raises(DataError, match="field 'time': expected a number, found text"):
        open_trace(write({"time": "noon", "input_length": 9}))

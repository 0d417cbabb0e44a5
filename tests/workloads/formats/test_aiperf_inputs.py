from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

ASK = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi there!"}


@pytest.fixture
def write(tmp_path):
    def write(document):
        path = tmp_path / "inputs.json"
        path.write_text(json.dumps(document))
        return path

    return write


def test_bodies_hold_the_whole_context(write):
    bodies = [
        {"messages": [ASK], "model": "m", "max_tokens": 12},
        {"messages": [ASK, ANSWER, ASK], "model": "m", "max_completion_tokens": 7},
    ]
    path = write({"data": [{"session_id": "s", "payloads": bodies}, {"payload": bodies[:1]}]})
    assert format_of(path) == "aiperf-inputs"
    trace = open_trace(path, tokenizer="bytes")
    assert trace.problem() is None
    turn, start = "<|im_start|>user\nHello<|im_end|>\n", "<|im_start|>assistant\n"
    first = len(turn + start)
    assert trace.prompt_tokens.tolist() == [
        first,
        first + len("Hi there!<|im_end|>\n" + turn + start),
        first,
    ]
    assert trace.output_tokens.tolist() == [12, 7, 12]
    assert trace.session.tolist() == [0, 0, -1]
    assert trace.labels == ("m",)
    assert trace.arrival_seconds is None
    assert overlaps(trace).tolist() == [0, first, first]


def test_a_prompt_is_taken_as_it_stands(write):
    trace = open_trace(write({"data": [{"payload": [{"prompt": "abc"}]}]}), tokenizer="bytes")
    assert trace.prompt_tokens.tolist() == [3]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"data": [{"payloads": [{"model": "m"}]}]}, ":1: field 'messages': expected messages or"),
        ({"data": [{"payloads": [{"prompt": "x", "max_tokens": -1}]}]}, ":1: field 'max_tokens'"),
        ({"data": [{"payloads": [{"prompt": "x", "max_tokens": "9"}]}]}, "max_tokens"),
        ({"data": [{"payloads": []}]}, "expected request bodies, found none"),
        ({"payloads": []}, "field 'data': expected this field, found none"),
    ],
)
def test_bad_documents_are_named(write, document, message):
    with pytest.raises(DataError) as caught:
        open_trace(write(document), format="aiperf-inputs")
    assert message in str(caught.value)

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

START = 1_760_000_000_000_000


def row(offset, content, answer="", session="k1", **others):
    return {
        "timestamp": START + offset,
        "input": content,
        "output": answer,
        "session_id": session,
    } | others


ROWS = [
    row(0, "Hello, who is it?", "It is me."),
    row(1_978_000, "Hello, who is it? It is me. Why?", ""),
    row(1_585_000, "Hello, who is it? It is me.", "Yes."),
]


@pytest.fixture
def write(tmp_path):
    def write(rows):
        path = tmp_path / "agent.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    return write


def test_microseconds_sessions_and_texts(write):
    path = write(ROWS)
    assert format_of(path) == "lmcache"
    trace = open_trace(path)
    assert trace.arrival_seconds.tolist() == [0, 1.585, 1.978]
    assert trace.session.tolist() == [0, 0, 0]
    assert trace.prompt_tokens.tolist() == [6, 10, 12]
    assert trace.output_tokens.tolist() == [4, 2, 0]
    assert overlaps(trace).tolist() == [0, 6, 10]
    assert any("sorted" in note for note in trace.notes)


def test_inputs_may_be_messages(write):
    messages = [{"role": "user", "content": "Hello"}]
    trace = open_trace(write([row(0, messages, "Hi."), row(9, [*messages, *messages])]))
    assert trace.prompt_tokens[1] > trace.prompt_tokens[0] > 1
    assert any("ChatML" in note for note in trace.notes)


def test_times_in_another_unit_are_another_format_or_told(write):
    seconds = [r | {"timestamp": r["timestamp"] / 1e6} for r in ROWS]
    assert format_of(write(seconds)) == "prompts"
    assert open_trace(write(seconds)).arrival_seconds.tolist() == [0, 1.585, 1.978]
    with pytest.raises(DataError, match=r"found 1.76e.15: is it in another unit"):
        open_trace(write(ROWS), format="prompts")
    assert len(open_trace(write(ROWS), format="prompts", time_unit="us")) == 3


def test_a_line_without_a_text_says_what_it_has(write):
    with pytest.raises(
        DataError, match=r":2: field 'prompt': .*found none among timestamp, output"
    ):
        open_trace(write([ROWS[0], {"timestamp": START, "output": "x"}]))

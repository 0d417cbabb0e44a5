from __future__ import annotations

import gzip
import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

PARTS = [
    {"type": "System", "role": "system", "sequenceId": 0, "token_len": 9000},
    {"type": "Context", "role": "user", "sequenceId": 1, "token_len": 1500},
    {"type": "UserMessage", "role": "user", "sequenceId": 2, "token_len": 60},
]


def call(second, prompt, completion, cached, parts=PARTS, **others):
    tokens = {"prompt": prompt, "completion": completion, "cached": cached}
    return {
        "timestamp": f"2026-06-01T08:00:{second:06.3f}Z",
        "model": "Model A",
        "result": "Success",
        "tokens": tokens,
        "message_metadata": parts,
    } | others


def session(name, *calls, **others):
    turns = [{"turn_id": "t", "llm_calls": [*calls], "tool_batches": []}]
    return {"session_id": name, "date": "2026-06-01", "turns": turns} | others


ONE = session("aa", call(0, 10560, 90, 8960), call(6, 11850, 40, 10496))
OTHER = session("bb", call(2, 9700, 30, 8960))


@pytest.fixture
def write(tmp_path):
    def write(*sessions, name="shard-0000.jsonl.gz"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(one) + "\n" for one in sessions)
        path.write_bytes(gzip.compress(text.encode()))
        return path

    return write


def kinds(trace):
    return {note.partition(":")[0] for note in trace.notes}


def test_prompts_share_what_the_cache_held_across_sessions_too(write):
    path = write(ONE, OTHER)
    assert format_of(path) == "copilot"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [10560, 9700, 11850]
    assert trace.output_tokens.tolist() == [90, 30, 40]
    assert trace.session.tolist() == [0, 1, 0]
    assert overlaps(trace).tolist() == [0, 8960, 10496]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 2, 6]
    assert trace.labels == ("Model A",)
    assert kinds(trace) >= {"unknown-prefix"}


def test_other_sessions_share_only_what_begins_alike(write):
    longer = [PARTS[0], PARTS[1] | {"token_len": 1400}, PARTS[2]]
    other = [PARTS[0] | {"token_len": 8999}, *PARTS[1:]]
    sessions = [
        session("bb", call(2, 10460, 30, 10368, longer)),
        session("cc", call(3, 9700, 30, 8960, other)),
        session("dd", call(4, 9700, 30, 8960, model="Model B")),
    ]
    trace = open_trace(write(session("aa", call(0, 10560, 90, 0)), *sessions))
    assert overlaps(trace).tolist() == [0, 9000, 0, 0]


def test_shards_are_read_by_date(write, tmp_path):
    write(OTHER, name="date=2026-06-02/shard-0000.jsonl.gz")
    write(ONE, name="date=2026-06-01/shard-0000.jsonl.gz")
    (tmp_path / "date=2026-06-01" / "manifest.json").write_text("{}")
    assert format_of(tmp_path) == "copilot"
    assert open_trace(tmp_path).prompt_tokens.tolist() == [10560, 9700, 11850]


def test_failures_are_kept_and_what_tells_no_prompt_is_left_out(write):
    calls = [
        call(0, 500, 0, 0, result="UserCancel"),
        call(1, 600, 5, 0) | {"tokens": None},
        call(2, 600, 5, 0) | {"timestamp": None},
        call(3, 0, 5, 0),
        call(4, 700, 5, None),
        call(5, 800, None, 0),
    ]
    trace = open_trace(write(session("aa", *calls), {"session_id": "bb", "turns": []}))
    assert trace.prompt_tokens.tolist() == [500, 700, 800]
    assert trace.output_tokens.tolist() == [0, 5, 0]
    odd = {"failure", "no-tokens", "no-time", "empty-prompt", "no-cached"}
    assert odd <= kinds(trace)


def test_a_repeated_call_is_one(write):
    once = call(0, 100, 9, 0, message_id="m1")
    calls = [once, once, once | {"timestamp": "2026-06-01T08:00:01Z"}, call(0, 100, 9, 0)]
    trace = open_trace(write(session("aa", *calls), session("bb", once)))
    assert trace.session.tolist() == [0, 0, 1, 0]
    assert "repeated-call: 1 x a call that the session has already: left out" in trace.notes


def test_times_of_a_wrong_clock_are_noted(write):
    trace = open_trace(write(session("aa", call(0, 500, 1, 0), date="2026-05-01")))
    assert "other-date" in kinds(trace)
    assert "other-date" not in kinds(open_trace(write(ONE)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (call(1, -5, 1, 0), "field 'turns[0].llm_calls[1].tokens.prompt': expected 1 to"),
        (call(1, 5, 1, -1), "field 'turns[0].llm_calls[1].tokens.cached'"),
        (call(1, 5, 1.5, 1), "field 'turns[0].llm_calls[1].tokens.completion'"),
        (call(1, 5, 1, 1) | {"timestamp": "x"}, "llm_calls[1].timestamp': expected a time like"),
        (call(1, 5, 1, 1, [{"token_len": -1}]), "message_metadata[0].token_len'"),
    ],
)
def test_a_session_with_a_bad_call_is_refused_as_a_whole(write, bad, message):
    path = write(OTHER, session("aa", call(0, 700, 1, 0), bad))
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert open_trace(path, on_bad_line="skip").prompt_tokens.tolist() == [9700]


def test_cached_tokens_may_lie_outside_the_prompt(write):
    trace = open_trace(write(ONE), cached_tokens="outside")
    assert trace.prompt_tokens.tolist() == [10560 + 8960, 11850 + 10496]


def test_a_file_without_calls_is_refused(write):
    with pytest.raises(DataError, match="expected sessions with calls"):
        open_trace(write({"session_id": "a", "turns": []}), format="copilot")

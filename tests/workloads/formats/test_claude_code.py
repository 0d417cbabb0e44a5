from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

SECOND = "2026-02-01T10:00:{:09.6f}Z"


def user(uuid, second, parent=None, session="s1", **others):
    return {
        "type": "user",
        "sessionId": session,
        "uuid": uuid,
        "parentUuid": parent,
        "timestamp": SECOND.format(second),
        "message": {"role": "user", "content": "fix it"},
    } | others


def usage(output, read, created, new=3):
    return {
        "input_tokens": new,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }


def says(uuid, message, second, parent, used, session="s1", model="m", **others):
    return {
        "type": "assistant",
        "sessionId": session,
        "uuid": uuid,
        "parentUuid": parent,
        "timestamp": SECOND.format(second),
        "message": {"id": message, "model": model, "content": [{"type": "text"}], "usage": used},
    } | others


FIRST = [
    user("u1", 0),
    says("a0", "m1", 5, "u1", usage(1, 15000, 8600, new=2)),
    says("a1", "m1", 5.001, "a0", usage(1, 15000, 8600, new=2)),
    says("a2", "m1", 5.002, "a1", usage(90, 15000, 8600, new=2)),
]
SECOND_CALL = [user("u2", 7, "a2"), says("a9", "m2", 11, "u2", usage(12, 23600, 300))]


@pytest.fixture
def write(tmp_path):
    def write(*lines, name="session.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def kinds(trace):
    return {note.partition(":")[0]: note for note in trace.notes}


def test_a_message_is_one_call_however_many_lines_it_has(write):
    path = write({"type": "summary", "summary": "x", "leafUuid": "a9"}, *FIRST, *SECOND_CALL)
    assert format_of(path) == "claude-code"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [23602, 23903]
    assert trace.output_tokens.tolist() == [90, 12]
    assert overlaps(trace).tolist() == [0, 23600]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 7]  # with the user's message and the result
    assert trace.labels == ("m",)
    assert trace.session.tolist() == [0, 0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1]])
def test_the_largest_usage_counts_in_whatever_order(write, order):
    trace = open_trace(write(*(FIRST[at] for at in order)))
    assert trace.prompt_tokens.tolist() == [23602]
    assert trace.output_tokens.tolist() == [90]


def test_a_session_shares_the_beginning_of_an_earlier_one(write):
    other = [
        user("v1", 20, session="s2"),
        says("b1", "m7", 22, "v1", usage(5, 15000, 400), session="s2"),
    ]
    trace = open_trace(write(*FIRST, *other, *SECOND_CALL))
    assert trace.session.tolist() == [0, 0, 1]
    assert overlaps(trace).tolist() == [0, 23600, 15000]


def test_a_resumed_session_repeats_no_call(write, tmp_path):
    copies = [line | {"sessionId": "s2", "uuid": f"x{line['uuid']}"} for line in FIRST]
    more = [
        user("w1", 30, "xa2", session="s2"),
        says("c1", "m3", 33, "w1", usage(7, 23600, 100), session="s2"),
    ]
    write(*FIRST, *SECOND_CALL, name="p/a.jsonl")
    write(*copies, *more, name="p/b.jsonl")
    assert format_of(tmp_path) == "claude-code"
    trace = open_trace(tmp_path)
    assert trace.prompt_tokens.tolist() == [23602, 23903, 23703]
    assert overlaps(trace).tolist() == [0, 23600, 23600]
    assert kinds(trace)["repeated-call"].startswith("repeated-call: 1 x ")


def test_other_sessions_may_use_the_same_names(write):
    other = [
        user("v1", 20, session="s2"),
        says("b1", "m1", 22, "v1", usage(5, 0, 400), session="s2"),
    ]
    trace = open_trace(write(*FIRST, *other))
    assert trace.prompt_tokens.tolist() == [23602, 403]
    assert "repeated-call" not in kinds(trace)


@pytest.mark.parametrize("named", [True, False])
def test_agents_are_sessions_of_their_own(write, named):
    side = {"isSidechain": True} | ({"agentId": "g1"} if named else {})
    agent = [
        user("g0", 6, None, **side),
        says("g1", "m5", 6.5, "g0", usage(20, 0, 4000), **side),
        user("g2", 6.7, "g1", **side),
        says("g3", "m6", 6.8, "g2", usage(30, 4000, 90), **side),
    ]
    trace = open_trace(write(*FIRST, *agent, *SECOND_CALL))
    assert trace.prompt_tokens.tolist() == [23602, 4003, 4093, 23903]
    assert trace.session.tolist() == [0, 1, 1, 0]
    assert overlaps(trace).tolist() == [0, 0, 4000, 23600]


def test_an_agent_does_not_go_on_from_the_call_that_started_it(write):
    side = {"isSidechain": True, "agentId": "g1"}
    agent = [
        user("g0", 6, "a2", **side),
        says("g1", "m5", 6.5, "g0", usage(20, 9000, 4000), **side),
    ]
    trace = open_trace(write(*FIRST, *agent))
    assert overlaps(trace).tolist() == [0, 0]


def test_branches_share_what_lies_before_them(write):
    again = [user("u3", 20, "a2"), says("b1", "m4", 22, "u3", usage(5, 23600, 700))]
    trace = open_trace(write(*FIRST, *SECOND_CALL, *again))
    assert trace.prompt_tokens.tolist() == [23602, 23903, 24303]
    assert overlaps(trace).tolist() == [0, 23600, 23600]


def test_calls_of_other_models_share_nothing(write):
    small = says("b1", "m4", 20, "u2", usage(5, 23600, 0), model="small")
    trace = open_trace(write(*FIRST, small))
    assert overlaps(trace).tolist() == [0, 0]


def test_errors_and_calls_without_usage_are_left_out_and_noted(write):
    error = says("e1", "e1", 6, "u1", usage(0, 0, 0, 0), model="<synthetic>")
    flagged = says("e2", "e2", 6, "u1", usage(0, 0, 0, 0), isApiErrorMessage=True)
    bare = says("e3", "e3", 6, "u1", None)
    empty = says("e4", "e4", 6, "u1", usage(0, 0, 0, 0))
    timeless = says("e5", "e5", 6, "u1", usage(5, 5, 5)) | {"timestamp": None}
    trace = open_trace(write(*FIRST, error, flagged, bare, empty, timeless))
    assert trace.prompt_tokens.tolist() == [23602]
    notes = kinds(trace)
    assert notes["api-error"].startswith("api-error: 2 x ")
    assert {"no-usage", "no-time", "empty-prompt"} <= set(notes)


def test_what_is_no_line_of_a_session_is_passed_over(write):
    odd = {"type": "file-history-snapshot", "messageId": "x", "timestamp": "never", "message": 7}
    assert len(open_trace(write(odd, *FIRST))) == 1


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"message": {"usage": {"input_tokens": -1}}}, "field 'message.usage.input_tokens'"),
        ({"message": {"usage": {"output_tokens": 2.5}}}, "field 'message.usage.output_tokens'"),
        ({"message": 7}, "field 'message': expected one JSON object"),
        ({"timestamp": "today"}, "field 'timestamp': expected a time like"),
        ({"timestamp": "2026-02-01T10:00:00"}, "field 'timestamp': expected a zone"),
        ({"type": None}, "field 'type': expected text"),
    ],
)
def test_a_bad_line_is_named_or_skipped(write, others, message):
    path = write(*FIRST, SECOND_CALL[1] | others)
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:5: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 1


def test_where_the_lines_hold_no_call_the_file_is_refused(write):
    with pytest.raises(DataError, match="found none"):
        open_trace(write(FIRST[0]))


def test_what_is_odd_is_told_without_a_doubt_about_cached_tokens(write):
    anomalies = {anomaly.what for anomaly in validate(write(*FIRST, *SECOND_CALL))}
    assert "unknown-prefix" in anomalies
    assert "cached-outside" not in anomalies

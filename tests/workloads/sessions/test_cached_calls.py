"""Prompts share what the server's cache held of them: worked by hand, and as a law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workloads.inspection import overlaps
from workloads.prefixes.prompts import BlockKeys
from workloads.rows import Rows, to_trace
from workloads.sessions.cached_calls import CachedCall, CachedCalls


def placed(*calls):
    rows = Rows(BlockKeys(1))
    CachedCalls.into(rows).place(calls)
    trace = to_trace(rows, "t")
    assert trace.problem() is None
    return trace, rows


def call(ticks, prompt, cached, output=0, session="s", **others):
    return CachedCall(int(ticks) + 1, ticks, prompt, cached, output, session, **others)


def test_a_call_goes_on_from_the_last_of_its_session_and_its_answer():
    trace, rows = placed(call(0, 100, 0, 10), call(1, 130, 110, 5), call(2, 140, 96))
    assert overlaps(trace).tolist() == [0, 110, 96]
    assert rows.oddities == {}


def test_the_order_is_that_of_time_whatever_the_file_has():
    trace, _ = placed(call(5, 130, 110), call(0, 100, 0, 10))
    assert trace.prompt_tokens.tolist() == [100, 130]
    assert overlaps(trace).tolist() == [0, 110]


def test_the_longest_is_taken_where_the_last_is_too_short():
    trace, rows = placed(call(0, 100, 0), call(1, 20, 0), call(2, 150, 90))
    assert overlaps(trace).tolist() == [0, 0, 90]
    assert rows.oddities == {}


def test_other_sessions_share_a_beginning_but_other_models_do_not():
    trace, rows = placed(
        call(0, 100, 0, 50),
        call(1, 200, 60, session="b"),
        call(2, 200, 60, session="c", model="m"),
        call(3, 200, 60, session="d", kin="agent"),
    )
    assert overlaps(trace).tolist() == [0, 60, 0, 0]
    assert rows.oddities["unknown-prefix"].count == 2


def test_what_goes_beyond_the_beginnings_of_others_is_new():
    """As in a session that began before the file: neither answers nor later turns are shared."""
    trace, rows = placed(
        call(0, 100, 0, 50), call(1, 300, 150), call(2, 200, 120, session="b"), call(3, 220, 210)
    )
    assert overlaps(trace).tolist() == [0, 150, 0, 210]
    assert rows.oddities["unknown-prefix"].count == 1


def test_parts_that_differ_end_what_sessions_share():
    one, other = (("system", 50), ("context", 30)), (("system", 50), ("context", 31))
    trace, _ = placed(call(0, 90, 0, parts=one), call(1, 90, 70, session="b", parts=other))
    assert overlaps(trace).tolist() == [0, 50]


def test_a_known_parent_goes_before_the_last():
    trace, _ = placed(
        call(0, 100, 0, 10), call(1, 120, 100), call(2, 130, 108, parent=0), call(3, 140, 115)
    )
    assert overlaps(trace).tolist() == [0, 100, 108, 115]


@given(st.data())
def test_overlaps_are_at_least_what_was_held_where_that_is_known(data):
    calls = []
    for at in range(data.draw(st.integers(1, 12))):
        prompt = data.draw(st.integers(1, 60))
        held = data.draw(st.integers(0, prompt))
        session = data.draw(st.sampled_from("abc"))
        calls.append(call(at, prompt, held, data.draw(st.integers(0, 9)), session))
    trace, rows = placed(*calls)
    unknown = 0 if not rows.oddities else rows.oddities["unknown-prefix"].count
    overlap_tokens = overlaps(trace).tolist()
    short = sum(have < call.cached_tokens for have, call in zip(overlap_tokens, calls, strict=True))
    assert short == unknown
    assert trace.prompt_tokens.tolist() == [call.prompt_tokens for call in calls]
    assert trace.output_tokens.tolist() == [call.output_tokens for call in calls]

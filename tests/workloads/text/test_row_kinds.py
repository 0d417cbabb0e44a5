from __future__ import annotations

import msgspec
import pytest

from workloads.text.row_kinds import Glance, RowSurvey

ASK, SAY = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
MORE, NO = {"role": "user", "content": "And?"}, {"role": "assistant", "content": "No."}
WHOLE = {"messages": [ASK, SAY, MORE, NO]}
OTHER = {"messages": [MORE, SAY, ASK, NO]}


def are_conversations(*rows):
    survey = RowSurvey()
    for row in rows:
        survey.see(decode(row))
    return survey.are_conversations()


def decode(row):
    return msgspec.json.decode(msgspec.json.encode(row), type=Glance)


@pytest.mark.parametrize(
    "rows",
    [
        [WHOLE],
        [WHOLE, OTHER, {"messages": [ASK]}],
        [WHOLE, {"messages": []}],
        [WHOLE | {"conversation_id": 1}, OTHER | {"conversation_id": 2}],
        [WHOLE | {"response": None}],
        [WHOLE, WHOLE],  # the same twice goes on from nothing
    ],
)
def test_rows_that_end_with_an_answer_and_hold_several_are_conversations(rows):
    assert are_conversations(*rows)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"messages": [ASK, SAY]}],
        [{"messages": [ASK, SAY, MORE]}],
        [WHOLE | {"usage": {"completion_tokens": 3}}],
        [WHOLE | {"response": "x"}],
        [WHOLE, {"request": {"messages": [ASK]}, "messages": [ASK]}],
        [{"messages": [ASK, SAY]}, WHOLE],  # the second goes on from the first
        [WHOLE | {"session_id": 1}, OTHER | {"session_id": 1}],
    ],
)
def test_rows_of_a_server_are_requests(rows):
    assert not are_conversations(*rows)


def test_a_few_rows_may_go_on_from_others():
    rows = [{"messages": [ASK, {"role": "assistant", "content": str(at)}]} for at in range(30)]
    longer = {"messages": [*rows[0]["messages"], MORE, NO]}
    assert are_conversations(*rows, longer)
    assert not are_conversations(*rows[:3], longer)

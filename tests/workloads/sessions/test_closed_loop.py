from __future__ import annotations

import pytest

from workloads.sessions.closed_loop import answer_ticks, turn_ticks


def test_a_turn_comes_its_wait_after_the_answer_before():
    # at 50 tokens a second: 2 s and 0.1 s for the answers, in ms
    assert turn_ticks(7.0, [100, 5, 9], [50.0, 0.0, 1e9], 1e3) == pytest.approx([7, 2057, 2157])


def test_a_session_of_one_turn_begins_at_its_start():
    assert turn_ticks(7.0, [100], [50.0], 1e3) == [7.0]


def test_an_answer_of_no_token_takes_no_time():
    assert answer_ticks(0, 1e9) == 0

from __future__ import annotations

import pytest

from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from tests.workloads.inspection.small_traces import trace_of
from workloads.slicing.cutting import by_requests, by_session_order, by_sessions, by_time

PROMPTS = [[1, 1], [2, 2], [1, 1, 3], [2, 2, 4], [5]]


@pytest.fixture
def trace() -> Trace:
    return trace_of(PROMPTS, times=[0, 10, 20, 30, 40], session=[7, 3, 7, 3, -1])


def test_a_time_is_half_open_and_begins_at_0_again(trace: Trace) -> None:
    part = by_time(trace, 10, 30)
    assert part.arrival_seconds is not None
    assert part.arrival_seconds.tolist() == [0, 10]
    assert part.prompt_tokens.tolist() == [2, 3]
    assert len(by_time(trace, 30)) == 2
    assert len(by_time(trace)) == 5


def test_a_cut_tells_what_it_took(trace: Trace) -> None:
    notes = by_time(trace, 10, 30).notes
    assert notes[0] == "a part: arrivals from 10.0 s to 30.0 s; 2 of 5 requests"
    assert "1 begin before it, 1 go on behind it" in notes[1]
    # [1, 1, 3] had two of its three tokens from the first request; [2, 2] had none
    assert "0.0 % are seen before, of the same requests in the whole 40.0 %" in notes[2]
    assert len(by_time(trace).notes) == 1


@pytest.mark.parametrize(
    ("start", "stop", "lengths"),
    [(None, 2, [2, 2]), (1, 3, [2, 3]), (-2, None, [3, 1]), (3, 99, [3, 1])],
)
def test_requests_as_a_slice_of_a_list(
    trace: Trace, start: int | None, stop: int | None, lengths: list[int]
) -> None:
    assert by_requests(trace, start, stop).prompt_tokens.tolist() == lengths


def test_sessions_are_whole_and_in_the_order_in_which_they_begin(trace: Trace) -> None:
    assert by_session_order(trace, None, 1).session.tolist() == [7, 7]
    assert by_session_order(trace, -1, None).session.tolist() == [3, 3]
    assert by_sessions(trace, [3, 7]).session.tolist() == [7, 3, 7, 3]


def test_nothing_is_refused_in_a_line(trace: Trace) -> None:
    for cut in (
        lambda: by_time(trace, 50),
        lambda: by_requests(trace, 9, None),
        lambda: by_session_order(trace, 2, None),
        lambda: by_time(trace_of(PROMPTS)),
        lambda: by_sessions(trace_of(PROMPTS), [1]),
    ):
        with pytest.raises(UsageError) as refused:
            cut()
        assert "\n" not in str(refused.value)

"""Both clocks let the same things happen at the same times."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.serving.clock import SimpyClock
from simulator.serving.heap_clock import HeapClock
from simulator.serving.interfaces import Clock, ClockError

DELAY = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 1e-17])  # many fall together, or nearly


def happened(
    clock: Clock, run: Callable[[], object], schedule: list[list[float]]
) -> list[tuple[int, float, float]]:
    """Return the callbacks as they came, with the time and when the next one is due.

    Each of them asks for those of the next line of the schedule.
    """
    calls: list[tuple[int, float, float]] = []
    lines = iter(schedule)
    asked = 0

    def ask() -> None:
        nonlocal asked
        for delay in next(lines, []):
            clock.after(delay, lambda _, number=asked: happen(number))
            asked += 1

    def happen(number: int) -> None:
        calls.append((number, clock.now, clock.peek()))
        ask()

    ask()
    run()
    assert clock.peek() == inf
    return calls


@given(st.lists(st.lists(DELAY, max_size=4), max_size=20))
def test_both_clocks_keep_one_order(schedule: list[list[float]]) -> None:
    simpy, timeline = SimpyClock(), HeapClock()

    def run() -> None:
        while timeline.advance():
            pass

    expected = happened(simpy, simpy.run, schedule)
    assert happened(timeline, run, schedule) == expected


@pytest.mark.parametrize("clock", [SimpyClock(), HeapClock()])
@pytest.mark.parametrize("delay", [nan, inf, -1.0])
def test_no_bad_delay_reaches_a_clock(clock: Clock, delay: float) -> None:
    with pytest.raises(ClockError, match="a delay of"):
        clock.after(delay, lambda _: None)
    assert clock.peek() == inf

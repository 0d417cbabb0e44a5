"""The requests of a trace come to the replicas."""

from __future__ import annotations

import pytest

from simulator.serving.arrivals import Arrivals
from simulator.serving.heap_clock import HeapClock
from simulator.serving.router import RoundRobin
from tests.simulator.prompts import trace_of


class Told:
    """A replica that notes what it is told, and when."""

    def __init__(self, name, notes, clock):
        self._name, self._notes, self._clock = name, notes, clock

    def arrive(self, request, arrival_seconds):
        assert arrival_seconds == self._clock.now
        self._notes.append((self._clock.now, self._name, request))

    def wake(self):
        self._notes.append((self._clock.now, self._name, "wake"))


def told(arrivals, names="a", before=()):
    """Return what replicas are told; steps end at the times `before`, asked for at first."""
    clock, notes = HeapClock(), []
    replicas = [Told(name, notes, clock) for name in names]
    trace = trace_of([(1,)] * 4, arrivals)
    Arrivals(clock, trace, replicas, RoundRobin()).begin()
    for time in before:
        clock.after(time, lambda _: notes.append((clock.now, "step", "ends")))
    while clock.advance():
        pass
    return notes


def test_all_of_one_instant_have_come_before_a_replica_wakes():
    assert told([0.0, 2.0, 2.0, 3.0]) == [
        (0.0, "a", 0), (0.0, "a", "wake"),
        (2.0, "a", 1), (2.0, "a", 2), (2.0, "a", "wake"),
        (3.0, "a", 3), (3.0, "a", "wake"),
    ]  # fmt: skip


def test_every_replica_wakes_with_each_arrival():
    assert told([0.0, 0.0, 0.0, 5.0], "ab")[:5] == [
        (0.0, "a", 0), (0.0, "b", 1), (0.0, "a", 2), (0.0, "a", "wake"), (0.0, "b", "wake"),
    ]  # fmt: skip


def test_a_step_that_ends_at_that_instant_goes_first():
    assert told([0.0, 2.0, 4.0, 6.0], before=[2.0])[2:4] == [(2.0, "step", "ends"), (2.0, "a", 1)]


@pytest.mark.parametrize("arrivals", [None, [0.0] * 4])
def test_without_times_all_come_at_once(arrivals):
    requests = [(0.0, "a", request) for request in range(4)]
    assert told(arrivals) == [*requests, (0.0, "a", "wake")]

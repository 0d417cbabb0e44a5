"""First come, first served, asked step by step. A prompt has four tokens, a state ten bytes."""

from __future__ import annotations

import pytest

from simulator.serving.fcfs import Fcfs
from tests.simulator.caches import cache_of
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of


class Asked:
    """A scheduler, the cache that it admits to, and what it has rejected."""

    def __init__(self, prompts, queue_limit=None, **cache):
        self.rejected = []
        self.cache = cache_of(trace_of(prompts), Wanted(2), **cache)
        self.scheduler = Fcfs(self.cache, self.rejected.append, queue_limit)

    def arrive(self, *requests, now):
        for request in requests:
            self.scheduler.arrive(request, now)

    def start(self, now):
        step = self.scheduler.next_step(now)
        return None if step is None else step.chunks[0]

    def end(self, chunk, now):
        self.cache.commit(chunk.running, chunk.stop, now)
        self.cache.release(chunk.running)


OTHERS = [(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (4, 4, 4, 4)]


def test_a_step_is_the_rest_of_one_prompt():
    asked = Asked([(1, 2, 3, 4), (1, 2, 5, 6)])
    asked.arrive(0, now=0.0)
    first = asked.start(0.0)
    asked.end(first, 4.0)
    asked.arrive(1, now=5.0)
    second = asked.start(5.0)
    assert [(one.start, one.stop) for one in (first, second)] == [(0, 4), (2, 4)]
    assert second.running.captures == []
    assert first.running.match.leaf.stop == 4


def test_requests_run_in_the_order_of_arrival_and_nothing_runs_without_one():
    asked = Asked(OTHERS)
    assert asked.start(0.0) is None
    asked.arrive(2, now=0.0)
    asked.arrive(0, now=1.0)
    asked.arrive(3, now=2.0)
    order = []
    while (chunk := asked.start(2.0)) is not None:
        order.append(chunk.running.request)
        asked.end(chunk, 2.0)
    assert order == [2, 0, 3]


@pytest.mark.parametrize(("second_arrives", "resume"), [(0.0, 0), (1.0, 2)])
def test_those_of_one_instant_are_matched_when_the_first_of_them_starts(second_arrives, resume):
    asked = Asked([(1, 2, 3, 4), (1, 2, 5, 6)])
    asked.arrive(0, now=0.0)
    if not second_arrives:
        asked.arrive(1, now=0.0)
    first = asked.start(0.0)
    if second_arrives:
        asked.arrive(1, now=1.0)
    asked.end(first, 4.0)
    assert asked.start(4.0).running.match.resume == resume


def test_one_that_has_to_wait_behind_too_many_is_rejected():
    asked = Asked(OTHERS, queue_limit=1)
    asked.arrive(0, now=0.0)
    first = asked.start(0.0)
    asked.arrive(1, 2, now=1.0)
    assert asked.rejected == [2]
    assert list(asked.scheduler.waiting()) == [1]
    asked.end(first, 4.0)
    asked.start(4.0)
    asked.arrive(3, now=5.0)
    assert list(asked.scheduler.waiting()) == [3]


def test_one_without_room_waits_for_those_that_run_and_all_behind_it():
    # Each holds 14 bytes: two of three that come together find room.
    asked = Asked(OTHERS, capacity_bytes=30, count_running=True)
    asked.arrive(0, 1, 2, 3, now=0.0)
    order = []
    while (chunk := asked.start(0.0)) is not None:
        order.append((chunk.running.request, list(asked.scheduler.waiting())))
        asked.end(chunk, 0.0)
    assert order == [(0, [1, 2, 3]), (1, [2, 3]), (2, [3]), (3, [])]
    assert asked.rejected == []


def test_one_that_never_finds_room_is_rejected_and_the_next_runs():
    asked = Asked([(1,) * 6, (2, 2)], capacity_bytes=15, count_running=True)
    asked.arrive(0, now=0.0)
    asked.arrive(1, now=1.0)
    assert asked.start(1.0).running.request == 1
    assert asked.rejected == [0]

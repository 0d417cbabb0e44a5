"""Each request at once, asked step by step. A token is one byte, a state ten."""

from __future__ import annotations

from simulator.serving.instant import Instant
from tests.simulator.caches import cache_of, finish
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of


def scheduled(prompts, **cache):
    """Let all prompts arrive; return the scheduler, its cache, and what it will have rejected."""
    rejected = []
    cache = cache_of(trace_of(prompts), Wanted(2), **cache)
    scheduler = Instant(cache, rejected.append)
    for request in range(len(prompts)):
        scheduler.arrive(request, 0.0)
    return scheduler, cache, rejected


def test_one_of_the_same_instant_finds_what_those_before_it_have_left():
    scheduler, cache, _ = scheduled([(1, 2, 3), (1, 2, 4)])
    (first,) = scheduler.next_step(0.0).chunks
    assert list(scheduler.waiting()) == [1]
    finish(cache, first.running)
    (second,) = scheduler.next_step(0.0).chunks
    assert [(one.start, one.stop) for one in (first, second)] == [(0, 3), (2, 3)]


def test_one_for_which_no_room_can_be_made_is_rejected_and_the_next_runs():
    scheduler, _, rejected = scheduled([(1,) * 6, (2, 2)], capacity_bytes=15, count_running=True)
    (chunk,) = scheduler.next_step(0.0).chunks
    assert (chunk.running.request, rejected) == (1, [0])
    assert scheduler.next_step(0.0) is None


def test_it_takes_no_time_on_the_clock():
    assert Instant.timeless

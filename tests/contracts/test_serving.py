"""What every cache, layout, scheduler and router promises, whoever it is written by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.admission.always import Always
from policies.eviction.lru import Lru
from simulator.cache.layout import layout_of
from simulator.cache.policy_cache import PolicyCache
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.scenario import SERVERS
from simulator.serving.router import RoundRobin
from tests.simulator.caches import context_of
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of
from tests.simulator.test_chunked_commit import Chunked

LAYOUTS = ["unified", "split:states=3", "split:states=25B"]
SCHEDULERS = [*SERVERS.values(), Chunked]
ROUTERS = [RoundRobin]
PROMPTS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple), min_size=1)


def cache_of(prompts, pools="unified", capacity=60, *, count_running=False):
    context = context_of(capacity, page_tokens=2)
    layout = layout_of(pools, context.sizes, context.cut, capacity, lambda _: Lru())
    trace = trace_of(prompts, [float(number) for number in range(len(prompts))])
    placer = Wanted(2, 4, 6)
    return PolicyCache(trace, context, placer, Always(), layout, count_running=count_running)


@pytest.mark.parametrize("pools", LAYOUTS)
@given(PROMPTS, st.booleans(), st.data())
def test_a_cache_keeps_its_books_whatever_runs_together(pools, prompts, count_running, data):
    cache, running = cache_of(prompts, pools, 50, count_running=count_running), []
    for request in range(len(prompts)):
        before = cache.usage(), [pool.held_bytes for pool in cache.pools.values()]
        admitted = cache.admit(request, float(request))
        if admitted is None:  # nothing is left behind, but what made room may have gone
            assert count_running
            assert [pool.held_bytes for pool in cache.pools.values()] == before[1]
            assert all(now <= then for now, then in zip(cache.usage(), before[0], strict=True))
        else:
            running.append(admitted)
        cache.check()
        for one in [*running]:
            if data.draw(st.booleans()):
                stop = data.draw(st.integers(one.computed + 1, one.end))
                cache.plan(one, stop)
                cache.commit(one, stop, float(request))
                assert one.computed == stop
            if one.computed == one.end:
                cache.release(one)
                running.remove(one)
            cache.check()
    for one in running:  # a request may also be let go of before its end
        cache.release(one)
    cache.check()
    assert all(pool.held_bytes == 0 for pool in cache.pools.values())
    assert all(span.pins == 0 for span in cache.tree)


@pytest.mark.parametrize("pools", LAYOUTS)
@given(st.integers(0, 20), st.integers(1, 20), st.sets(st.integers(1, 40)), st.integers(1, 60))
def test_a_layout_cuts_what_is_short_or_all(pools, start, tokens, positions, short_bytes):
    layout = cache_of([(1,)], pools, 1000).residency.layout
    span = KvSpan(KvSpan(None, -1, start), start, start + tokens)
    span.kv_end, span.size_bytes = span.stop, tokens * layout.kv_bytes_per_token
    for position in sorted(positions):
        if start < position <= span.stop:
            span.add(Checkpoint(span, position, layout.state_bytes))
    end = layout.end_of_rest(span, short_bytes)
    assert start <= end < span.kv_end
    freed = (span.kv_end - end) * layout.kv_bytes_per_token
    if layout.kv is layout.states:
        freed += sum(state.size_bytes for state in span.checkpoints if state.position > end)
    assert freed >= short_bytes or end == start
    assert end % 2 == 0 or end == start  # whole pages
    assert set(layout.pools.values()) == {layout.kv, layout.states}
    assert layout.page_start(span) < span.kv_end
    assert end <= max(start, layout.page_start(span))


@pytest.mark.parametrize("make", SCHEDULERS)
@given(PROMPTS, st.booleans(), st.integers(10, 70))
def test_a_scheduler_runs_each_request_once_to_its_end(make, prompts, count_running, capacity):
    cache = cache_of(prompts, "unified", capacity, count_running=count_running and make != Chunked)
    rejected, ended, now = [], [], 0.0
    scheduler = make(cache, rejected.append)
    for request in range(len(prompts)):
        scheduler.arrive(request, now)
    while (step := scheduler.next_step(now)) is not None:
        now += 1.0
        assert step.chunks
        assert len({chunk.running.request for chunk in step.chunks}) == len(step.chunks)
        for chunk in step.chunks:
            assert chunk.running.computed == chunk.start < chunk.stop <= chunk.running.end
            cache.commit(chunk.running, chunk.stop, now)
            if chunk.stop == chunk.running.end:
                cache.release(chunk.running)
                ended.append(chunk.running.request)
    assert sorted([*ended, *rejected]) == list(range(len(prompts)))
    assert not rejected or count_running
    assert not list(scheduler.waiting())
    cache.check()


@pytest.mark.parametrize("make", ROUTERS)
def test_a_router_names_a_replica_that_is_there(make):
    for count in (1, 2, 5):
        router = make()
        chosen = [router.choose(request, [object()] * count) for request in range(20)]
        assert set(chosen) <= set(range(count))
        again = make()
        assert chosen == [again.choose(request, [object()] * count) for request in range(20)]

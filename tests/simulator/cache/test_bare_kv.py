"""Where KV behind the deepest wanted state is not stored, in whole prompts and in chunks."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.eviction import EVICTION
from simulator.plugins.context import SPAN, TAIL
from simulator.results.records import COUNT_COLUMNS, LOSSES
from tests.simulator.cache.test_cache_against_oracle import REQUESTS, NoBareKv
from tests.simulator.caches import cache_of
from tests.simulator.placers import AtTheEnd, Everywhere, Wanted
from tests.simulator.prompts import trace_of
from tests.simulator.replays import replay
from tests.simulator.test_chunked_commit import Chunked

PROMPT, ANSWER = (1, 2, 3, 4, 5, 6, 7, 8), (9, 10)


class InThisChunk(Wanted):
    """Names what lies in the chunk only."""

    def place(self, prefix, window):
        return [p for p in super().place(prefix, window) if window.start < p <= window.stop]


def stored(placer, prompts=(PROMPT,), answers=(ANSWER,), chunk=None, **context):
    """Serve prompts, in chunks of so many tokens; return the cache, and its tokens with KV."""
    cache = cache_of(trace_of(prompts, answers=answers), placer, None, NoBareKv(), **context)
    for request in range(len(prompts)):
        running = cache.admit(request)
        while running.computed < running.end:
            upto = min(running.end, running.computed + (chunk or running.end))
            cache.plan(running, upto)
            cache.commit(running, upto, 0.0)
            cache.check()
        cache.release(running)
        cache.check()
    return cache, cache.usage()[2]


@pytest.mark.parametrize("chunk", [None, 1, 3, 4])
@pytest.mark.parametrize(
    ("placer", "tokens"),
    [
        (Wanted(), 0),
        (Wanted(3), 3),
        (Wanted(2, 6), 6),
        (InThisChunk(2, 6), 6),
        (Wanted(end=True), 8),
        (AtTheEnd(), 10),
        (Everywhere(), 10),  # any token may be resumed from
    ],
)
def test_kv_ends_with_the_deepest_state(placer, tokens, chunk):
    assert stored(placer, chunk=chunk)[1] == tokens


def test_positions_off_the_grid_are_rounded_down():
    trace = trace_of([PROMPT], granularity=3)
    cache = cache_of(trace, Wanted(5), None, NoBareKv())
    running = cache.admit(0)
    cache.plan(running, running.end)
    cache.commit(running, running.end, 0.0)
    assert running.kv_wanted == cache.grid.floor(5)


def test_kv_that_is_there_stays_and_a_later_state_brings_its_own():
    prompts = [PROMPT, (*PROMPT, 11, 12), (*PROMPT, 11, 12, 13)]

    class Deeper(Wanted):
        def place(self, prefix, window):
            return [[6], [], [10]][prefix.request]

    cache, tokens = stored(Deeper(), prompts, ((),) * 3)
    assert tokens == 10
    assert [s.position for span in cache.tree for s in span.checkpoints if s.position] == [6, 10]


def test_the_kv_that_is_missing_is_told_as_not_admitted():
    result = replay([PROMPT, PROMPT], None, lambda: Wanted(3), admission=NoBareKv, server="instant")
    assert result.columns["saved_tokens"].tolist() == [0, 3]
    assert result.columns["kv_tokens"].tolist() == [0, 3]
    assert result.columns["lost_not_admitted_tokens"].tolist() == [0, 4]
    assert result.columns["lost_last_token_tokens"].tolist() == [0, 1]


@given(
    requests=REQUESTS,
    wanted=st.lists(st.integers(1, 10), max_size=4),
    end=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 80)),
    eviction=st.sampled_from(["lru", "value", "marconi", "unified"]),
    cut=st.sampled_from([TAIL, SPAN]),
    tokens=st.integers(1, 5),
    together=st.integers(1, 3),
    count_running=st.booleans(),
)
def test_losses_add_up_however_many_run_at_once(
    requests, wanted, end, capacity, eviction, cut, tokens, together, count_running
):
    prompts, answers = zip(*requests, strict=True)
    result = replay(
        prompts,
        [float(number // together) for number in range(len(prompts))],
        lambda: Wanted(*wanted, end=end),
        answers=answers,
        admission=NoBareKv,
        eviction=EVICTION[eviction],
        capacity_bytes=capacity,
        cut=cut,
        server="queue" if count_running else partial(Chunked, tokens=tokens),
        count_running=count_running,
    )
    rows = result.columns
    lost = sum(rows[f"lost_{loss}_tokens"] for loss in LOSSES)
    assert (rows["saved_tokens"] + lost == rows["prompt_tokens"]).all()


@given(REQUESTS, st.integers(1, 5), st.lists(st.integers(1, 10), max_size=4), st.booleans())
def test_alone_it_does_not_matter_how_often_a_request_commits(requests, tokens, wanted, windows):
    (prompts, answers), arrivals = zip(*requests, strict=True), [*map(float, range(len(requests)))]
    often = partial(Chunked, tokens=tokens, timeless=True)
    one, other = (
        replay(
            prompts,
            arrivals,
            lambda placer=placer: placer(*wanted, end=True),
            answers=answers,
            admission=NoBareKv,
            server=server,
        )
        for server, placer in (("instant", Wanted), (often, InThisChunk if windows else Wanted))
    )
    assert all((one.columns[name] == other.columns[name]).all() for name in COUNT_COLUMNS)
    assert one.positions.tolist() == other.positions.tolist()

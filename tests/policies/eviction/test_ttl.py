"""Time to live: by hand, through the cache, and against an oracle."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.eviction.lru import Lru
from policies.eviction.ttl import Ttl
from simulator.plugins.context import SPAN, TAIL
from simulator.results.records import LOSSES
from tests.policies.eviction.hand import request, root, span_below, state_in
from tests.simulator.cache.naive_cache import NaiveCache
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile
from tests.simulator.replays import replay


def run(prompts, arrivals, eviction, placer=lambda: Wanted(2, end=True), **scenario):
    """Replay prompts whose prefill takes no time to speak of, with a state at 2 and at the end."""
    known = {"profile": toy_profile(seconds_per_token=1e-5), "server": "instant"} | scenario
    return replay(prompts, arrivals, placer, eviction=eviction, **known)


def test_the_oldest_expires_and_the_least_recent_is_evicted():
    policy = Ttl(seconds=10)
    request(policy, now_seconds=0.0)
    first, second = (state_in(root(), position) for position in (1, 2))
    policy.on_insert(first)
    policy.on_insert(second)
    request(policy, now_seconds=9.0)
    policy.on_hit(first)
    assert policy.victim() is second
    assert policy.expired(10.0) is None  # not older than its life
    assert policy.expired(10.5) is second  # the deeper of two that came together
    policy.on_evict(second)
    assert policy.expired(10.5) is first  # the hit has not prolonged its life


def test_a_use_begins_a_new_life_where_that_is_wanted():
    policy = Ttl(seconds=10, refresh=True)
    request(policy, now_seconds=0.0)
    used, idle = (state_in(root(), position) for position in (1, 2))
    policy.on_insert(used)
    policy.on_insert(idle)
    request(policy, now_seconds=9.0)
    policy.on_hit(used)
    assert policy.expired(12.0) is idle
    policy.on_evict(idle)
    assert policy.expired(19.0) is None
    assert policy.expired(19.5) is used


def test_what_lies_below_lives_no_longer_than_the_kv_above():
    policy = Ttl(seconds=10)
    request(policy, now_seconds=0.0)
    above = span_below(root(), 5)
    policy.on_insert(above)
    request(policy, now_seconds=8.0)
    middle = span_below(above, 7)
    below = span_below(middle, 9)
    policy.on_insert(below)  # as the cache does: the deepest first
    policy.on_insert(middle)
    gone = []
    while (run := policy.expired(11.0)) is not None:
        gone.append(run)
        run.kv_end = run.start
        run.parent.children_resident -= 1
        policy.on_evict(run)
    assert gone == [below, middle, above]


def test_what_has_expired_serves_no_hit_and_counts_as_evicted():
    prompts = [(1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6)]
    result = run(prompts, [0.0, 10.0, 10.5, 12.0], partial(Ttl, seconds=10.2))
    rows = result.columns
    # At 10.5 all that came at 0 has gone, and (4) with it, whose KV hung below.
    assert rows["saved_tokens"].tolist() == [0, 3, 0, 5]
    assert rows["lost_kv_evicted_tokens"].tolist() == [0, 0, 4, 0]
    assert result.counters.checkpoints_evicted == 3  # at 2, 3 and 4
    for_ever = run(prompts, [0.0, 10.0, 10.5, 12.0], Lru)
    assert for_ever.columns["saved_tokens"].tolist() == [0, 3, 4, 5]


def test_a_state_expires_alone_where_its_kv_is_younger():
    prompts = [(1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)]
    eviction = partial(Ttl, seconds=10, refresh=True)
    result = run(prompts, [0.0, 5.0, 13.0], eviction, placer=lambda: Wanted(2, 4))
    # The second prompt resumes at 4 and passes all of the KV; the state at 2 is not used again.
    assert result.columns["saved_tokens"].tolist() == [0, 4, 4]
    assert result.counters.checkpoints_evicted == 1


def test_without_times_nothing_expires():
    prompts = [(1, 2, 3)] * 5
    saved = run(prompts, None, partial(Ttl, seconds=1e-9)).columns["saved_tokens"]
    assert saved.tolist() == [0, 2, 2, 2, 2]


def test_what_a_request_uses_stays_until_it_ends():
    prompts = [(1, 2), (1, 2, *range(30)), (1, 2, 7), (1, 2, 8)]
    slow = toy_profile(seconds_per_token=1.0)
    eviction = partial(Ttl, seconds=10)
    result = run(prompts, [0.0, 5.0, 5.0, 50.0], eviction, profile=slow, server="queue")
    # The second takes the server from 5 to 35; the third was matched with it, and ends at 36.
    assert result.columns["saved_tokens"].tolist() == [0, 2, 2, 0]
    assert result.columns["lost_kv_evicted_tokens"].tolist() == [0, 0, 0, 2]


class ExpiringNaiveCache(NaiveCache):
    """The oracle, in which entries have a life."""

    def begin(self, life, refresh):
        self.life, self.refresh, self.now, self.born = life, refresh, 0.0, {}

    def touch(self, entry, fresh=False):
        super().touch(entry, fresh)
        if fresh or self.refresh:
            self.born[entry] = self.now

    def split_for(self, prompt):
        before = self.ends
        super().split_for(prompt)
        for end in [end for end in reversed(self.ends) if end not in before]:
            lower = min((e for e in before if e[: len(end)] == end), key=len, default=None)
            if ("kv", lower) in self.born:
                self.born["kv", end] = self.born["kv", lower]

    def expire(self):
        """Let go of every state and run that is too old, of a run with all that lies below."""
        old = {entry for entry, born in self.born.items() if self.now - born > self.life}
        for end in self.ends:
            start = end[: self.start(end) + 1]
            if start in self.kv and ("kv", end) in old:
                self.kv = {t for t in self.kv if t[: len(start)] != start}
                self.checkpoints = {t for t in self.checkpoints if t[: len(start)] != start}
        self.checkpoints -= {mark for kind, mark in old if kind == "state"}


PROMPTS = st.lists(
    st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple), st.integers(0, 4)),
    min_size=1,
    max_size=14,
)


@settings(max_examples=200)
@given(
    requests=PROMPTS,
    life=st.integers(0, 12),
    refresh=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 80)),
    cut=st.sampled_from([TAIL, SPAN]),
)
def test_every_request_agrees_with_the_oracle(requests, life, refresh, capacity, cut):
    prompts, waits = zip(*requests, strict=True)
    arrivals = [float(sum(waits[:count])) for count in range(1, len(waits) + 1)]
    result = run(
        prompts,
        arrivals,
        partial(Ttl, seconds=life + 0.5, refresh=refresh),
        capacity_bytes=capacity,
        cut=cut,
    )

    def wanted(prompt, resume):
        return sorted({p for p in (2, len(prompt)) if resume < p <= len(prompt)})

    oracle = ExpiringNaiveCache(wanted, capacity, 1, 10, 1, (1, 1), True, cut == SPAN)
    oracle.begin(life + 0.5, refresh)
    rows = result.columns
    for number, prompt in enumerate(prompts):
        oracle.now = arrivals[number]
        oracle.expire()
        running = oracle.serve(prompt)
        assert rows["saved_tokens"][number] == running.resume
        losses = [int(rows[f"lost_{loss}_tokens"][number]) for loss in LOSSES[:8]]
        assert losses == running.losses
        assert rows["kv_bytes"][number] == len(oracle.kv)
        assert rows["checkpoints_resident"][number] == len(oracle.checkpoints)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_a_life_is_positive_and_finite(seconds):
    with pytest.raises(ValueError, match="seconds: expected a positive number"):
        Ttl(seconds=seconds)

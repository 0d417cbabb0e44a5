"""Policies that need prefixes, each worked by hand."""

from __future__ import annotations

import pytest

from policies.eviction.coverage import Coverage
from policies.eviction.pgdsf import Pgdsf
from policies.eviction.reuse_probability import ReuseProbability
from policies.eviction.session_aware import SessionAware
from policies.eviction.split_lru import SplitLru
from policies.eviction.tail_lru import TailLru
from policies.eviction.value import ValueEviction
from policies.objects import ObjectStream, replay
from policies.registry import create
from simulator.base.errors import UsageError
from tests.policies.eviction.hand import (
    WORLD,
    drop,
    drop_path,
    leaf_with_state,
    request,
    root,
    span_below,
    state_in,
)


def test_pgdsf_weighs_uses_and_seconds_by_bytes():
    policy = Pgdsf()
    policy.begin(WORLD)
    long, short, late = (state_in(span_below(root(), stop), stop) for stop in (40, 20, 10))
    policy.on_insert(long)  # 40 seconds / 10 bytes = 4
    policy.on_insert(short)  # 2
    assert policy.victim() is short
    policy.on_hit(short)
    policy.on_hit(short)  # 3 uses x 2 = 6
    assert policy.victim() is long
    drop(policy, long)  # the clock is 4
    policy.on_insert(late)  # 4 + 1
    assert policy.victim() is late


def test_pgdsf_counts_a_state_from_the_next_one_above():
    policy = Pgdsf()
    policy.begin(WORLD)
    run = span_below(root(), 50)
    state_in(run, 40)
    end = state_in(run, 50)
    policy.on_insert(end)
    assert end.rank[0] == 1.0  # 10 seconds / 10 bytes


def test_tail_lru_gives_up_what_the_next_turn_can_compute():
    policy = TailLru(xi=10, question=5)
    old = state_in(span_below(root(), 9), 9)
    request(policy, prompt_tokens=100)
    policy.on_insert(old)
    request(policy, prompt_tokens=30)  # the next turn must resume at 30 + 5 - 10 = 25 or later
    run = span_below(root(), 30)
    states = [state_in(run, position) for position in (20, 28, 30)]
    for checkpoint in states:
        policy.on_insert(checkpoint)
    assert policy.victim() is states[2]  # 28 is deep enough
    drop(policy, states[2])
    assert policy.victim() is old  # 20 is not: 28 stays, and the rest goes by last use


def test_reuse_probability_keeps_the_label_that_comes_back():
    policy = ReuseProbability()
    kept = state_in(root(), 1)
    once = [state_in(root(), position) for position in range(2, 7)]
    request(policy, label=0)
    policy.on_insert(kept)
    for entry in once:
        request(policy, label=1)
        policy.on_insert(entry)
        request(policy, label=0)
        policy.on_hit(kept)
    request(policy, label=1)
    last = state_in(root(), 9)
    policy.on_insert(last)
    gone = []
    while (victim := policy.victim()) is not None:
        gone.append(victim)
        drop(policy, victim)
    assert gone == [*once, last, kept]  # by last use `kept` would go before `last`


def test_session_aware_lets_silent_sessions_go_before_older_shared_entries():
    for patience, goes in ((2.0, 2), (5.0, 1)):
        policy = SessionAware(patience=patience)
        shared, own, other = (state_in(root(), position) for position in (1, 2, 3))
        request(policy, session=-1)
        policy.on_insert(shared)
        request(policy, session=0)
        policy.on_insert(own)
        request(policy, session=0)
        policy.on_hit(own)
        for _ in range(3):  # every session has waited one request; session 0 waits three
            request(policy, session=1)
        policy.on_insert(other)
        assert policy.victim().position == goes


def test_session_aware_shares_what_a_second_session_uses():
    policy = SessionAware(patience=0.5)
    entry = state_in(root(), 1)
    request(policy, session=0)
    policy.on_insert(entry)
    request(policy, session=1)
    policy.on_hit(entry)
    own = state_in(root(), 2)
    policy.on_insert(own)
    request(policy, session=0)
    assert policy.victim() is own  # session 1 has waited longer than half a mean


def test_split_lru_empties_one_list_first():
    for first in ("kv", "states"):
        policy = SplitLru(first=first)
        run = span_below(root(), 9)
        checkpoint = state_in(run, 5)
        for entry in (checkpoint, run) if first == "kv" else (run, checkpoint):
            policy.on_insert(entry)
        assert policy.victim() is (run if first == "kv" else checkpoint)


def test_split_lru_refreshes_one_state_or_the_path():
    for refresh, goes in (("used", 5), ("path", 7)):
        policy = SplitLru(first="states", refresh=refresh)
        run = span_below(root(), 9)
        inner, end, other = state_in(run, 5), state_in(run, 9), state_in(root(), 7)
        for entry in (run, inner, end, other):
            policy.on_insert(entry)
        policy.on_hit(run)
        policy.on_hit(end)
        assert policy.victim().position == goes


@pytest.mark.parametrize("parts", [False, True])
def test_split_lru_may_use_a_run_that_is_shared_in_part_as_a_whole(parts):
    policy = SplitLru(parts=parts)
    lower, other = span_below(root(), 9), span_below(root(), 5)
    for run in (lower, other):
        policy.on_insert(run)
    policy.on_split(lower.cut(4, 0), lower)
    assert policy.victim() is (other if parts else lower)


def test_coverage_drops_the_state_that_its_neighbours_nearly_replace():
    policy = Coverage()
    policy.begin(WORLD)
    run = span_below(root(), 100)
    states = [state_in(run, position) for position in (50, 60, 100)]
    policy.on_insert(run)
    for checkpoint in states:
        policy.on_insert(checkpoint)
    # 50: 50 x 10 / 10; 60: 10 x 40 / 10; 100: 40 tokens for as many prompts as all depths / 50
    assert policy.victim() is states[1]
    drop(policy, states[1])
    assert policy.victim() is run  # 50: 50 x 50 / 10; 100: 50 x 100 / 60


def test_coverage_leaves_what_other_paths_need_and_takes_bare_kv():
    policy = Coverage()
    policy.begin(WORLD)
    trunk = span_below(root(), 10)
    shared = state_in(trunk, 10)
    old, new = span_below(trunk, 20), span_below(trunk, 30)
    for entry in (old, new, trunk, shared):
        policy.on_insert(entry)
    assert policy.victim() is old


def test_value_keeps_what_saves_most_seconds_per_byte():
    policy = ValueEviction()
    policy.begin(WORLD)
    request(policy)
    leaf_with_state(policy, 64)  # 64 seconds / 74 bytes
    leaf_with_state(policy, 4)  # 4 seconds / 14 bytes
    assert policy.victim().stop == 4
    bare = span_below(root(), 500)
    policy.on_insert(bare)
    assert policy.victim() is bare  # nothing can resume there


def test_value_learns_that_what_was_used_is_used_again():
    policy = ValueEviction()
    policy.begin(WORLD)
    _, used = leaf_with_state(policy, 32)
    for _ in range(20):
        request(policy)
        policy.on_hit(used)
    for _ in range(20):
        request(policy)
        run, checkpoint = leaf_with_state(policy, 32)
        for _ in range(8):
            request(policy)
        drop_path(policy, run, checkpoint)
    policy.on_hit(used)
    newest, _ = leaf_with_state(policy, 32)
    assert policy.victim() is newest


def test_value_spares_what_has_waited_half_the_time_to_its_next_use():
    policy = ValueEviction()
    policy.begin(WORLD)
    for _ in range(40):  # states are used once, after 24 requests
        run, checkpoint = leaf_with_state(policy, 32)
        for _ in range(24):
            request(policy)
        policy.on_hit(checkpoint)
        drop_path(policy, run, checkpoint)
    _, waits = leaf_with_state(policy, 32)
    for _ in range(20):
        request(policy)
    fresh, _ = leaf_with_state(policy, 32)
    assert policy.victim() is fresh
    for _ in range(40):
        request(policy)
    assert policy.victim() is waits.span  # its time is over


def test_value_tells_the_end_of_a_path_from_what_was_continued():
    policy = ValueEviction()
    policy.begin(WORLD)
    for _ in range(40):  # what ends a path is used, and what lies in between never
        run = span_below(root(), 64)
        middle, end = state_in(run, 32), state_in(run, 64)
        for entry in (run, middle, end):
            policy.on_insert(entry)
        for _ in range(4):
            request(policy)
        policy.on_hit(end)
        drop_path(policy, run, middle, end)
    run = span_below(root(), 64)
    middle, end = state_in(run, 32), state_in(run, 64)
    for entry in (run, middle, end):
        policy.on_insert(entry)
    request(policy)
    assert policy.victim() is middle


@pytest.mark.parametrize(
    "name",
    ["marconi", "seglen", "ttl", "tail_lru", "reuse_probability", "value", "clairvoyant"],
)
def test_they_are_not_for_plain_objects(name):
    with pytest.raises(UsageError, match="needs prefixes"):
        replay(ObjectStream.of([1, 2], [1, 1]), create("eviction", name), 1)

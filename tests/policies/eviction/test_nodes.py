"""Policies that weigh recency against the worth of states, each worked by hand."""

from __future__ import annotations

import pytest

from policies.eviction.marconi import MarconiEviction
from policies.eviction.seglen import SegLen
from policies.placement.branch import Branch
from policies.registry import create
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
from tests.simulator.prompts import toy_profile
from tests.simulator.replays import replay


def test_marconi_weighs_flops_per_byte_against_recency():
    for alpha, goes in ((0.0, 40), (2.0, 10)):
        policy = MarconiEviction(alpha=alpha)
        policy.begin(WORLD)
        request(policy)
        leaf_with_state(policy, 40)  # 40 tokens / 50 bytes
        request(policy)
        leaf_with_state(policy, 10)  # 10 tokens / 20 bytes, but more recent
        assert policy.victim().stop == goes


def test_marconi_takes_the_state_alone_where_there_is_a_child_and_none_where_there_are_two():
    policy = MarconiEviction(alpha=0.0)
    policy.begin(WORLD)
    request(policy)
    span, inner = leaf_with_state(policy, 10)
    request(policy)
    leaf_with_state(policy, 20, span)
    assert policy.victim() is inner
    request(policy)
    second, _ = leaf_with_state(policy, 30, span)
    assert policy.victim().stop == 20
    second.kv_end = second.start
    second.checkpoints[0].resident = False
    policy.on_evict(second)
    assert policy.victim() is inner


def test_marconi_counts_flops_from_the_next_state_above_as_it_comes_and_goes():
    policy = MarconiEviction(alpha=1.0)
    policy.begin(WORLD)
    span = span_below(root(), 40)
    end = state_in(span, 40)
    policy.on_insert(end)
    whole = end.policy_data.worth
    inner = state_in(span, 30)
    policy.on_insert(inner)
    assert end.policy_data.worth == policy.worth(30, 40) < whole
    drop(policy, inner)
    assert end.policy_data.worth == policy.worth(0, 40) == whole


def test_marconi_flops_are_those_of_the_paper():
    one_of_each = MarconiEviction(0.0, 5.0, attention=1, ssm=1, mlp=1, d_model=2, d_state=3)
    length, bytes_held = 10, 10 + 10
    one_of_each.begin(WORLD)
    attention = 8 * length * 2**2 + 4 * length**2 * 2
    mlp = 16 * length * 2**2
    ssm = 12 * length * 2**2 + 16 * length * 2 * 3 + 10 * length * 2
    assert one_of_each.worth(0, length) == pytest.approx((attention + mlp + ssm) / bytes_held)


def test_seglen_lets_the_shortest_replay_go():
    policy = SegLen()
    policy.begin(WORLD)
    request(policy)
    span = span_below(root(), 30)
    near, end = state_in(span, 5), state_in(span, 30)
    for entry in (span, near, end):
        policy.on_insert(entry)
    leaf_with_state(policy, 20)
    assert policy.victim() is near  # 5 tokens; the others 25 and 20
    drop(policy, near)
    assert policy.victim().stop == 20  # now 30 against 20
    request(policy)
    policy.on_hit(end)
    assert policy.victim().stop == 20


@pytest.mark.parametrize("policy", [SegLen(), MarconiEviction(alpha=1.0)])
def test_kv_without_a_state_goes_first_and_by_last_use(policy):
    policy.begin(WORLD)
    request(policy)
    leaf_with_state(policy, 10)
    spans = [span_below(root(), stop) for stop in (20, 30)]
    for span in spans:
        request(policy)
        policy.on_insert(span)
    assert policy.victim() is spans[0]
    request(policy)
    policy.on_hit(spans[0])
    assert policy.victim() is spans[1]
    state = state_in(spans[1], 25)
    policy.on_insert(state)  # what lies behind it goes with it
    assert policy.victim() is spans[0]
    drop_path(policy, spans[0])
    assert policy.victim().stop == 10
    assert [victim.stop for victim in policy.victims()] == [10, 30]


@pytest.mark.parametrize("policy", ["seglen", "marconi:alpha=1", "value", "lru"])
def test_where_kv_has_no_bytes_a_state_with_many_children_can_go(policy):
    result = replay(
        [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)],
        None,
        Branch,
        profile=toy_profile(kv_bytes=0),
        eviction=lambda: create("eviction", policy),
        capacity_bytes=toy_profile().state_bytes,
        server="instant",
    )
    assert result.columns["saved_tokens"].tolist() == [0, 0, 0, 0, 1, 1]

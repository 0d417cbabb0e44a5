"""What would go by expected saving, ahead of time."""

from __future__ import annotations

from policies.eviction.value import ValueEviction
from tests.policies.eviction.hand import WORLD, drop, request, root, span_below, state_in


def take(policy, run):
    """Let go of what the cache would of a victim: KV behind its last state, else all of it."""
    if run.checkpoints and run.checkpoints[-1].position < run.kv_end:
        run.kv_end = run.checkpoints[-1].position
        run.size_bytes = run.kv_end - run.start
        return
    run.kv_end, run.size_bytes = run.start, 0
    for state in reversed(run.checkpoints):
        drop(policy, state)
    policy.on_evict(run)
    run.parent.children_resident -= 1
    if run.parent.evictable:
        policy.on_evictable(run.parent)


def test_bare_kv_goes_first_then_states_with_theirs_and_what_they_leave_bare():
    policy = ValueEviction()
    policy.begin(WORLD)
    request(policy)
    trunk = span_below(root(), 2)
    leaf, bare = span_below(trunk, 12), span_below(trunk, 20)
    cheap = state_in(leaf, 4)  # 4 seconds / 12 bytes, with 8 tokens behind it
    dear = state_in(span_below(root(), 900), 900)  # 900 seconds / 910 bytes
    in_use = state_in(span_below(root(), 8), 8)
    in_use.pins = in_use.span.pins = 1
    for run in (bare, leaf, trunk, dear.span, in_use.span):
        policy.on_insert(run)
    for state in (dear, cheap, in_use):
        policy.on_insert(state)
    expected = [bare, leaf, leaf, trunk, dear.span]
    assert list(policy.victims()) == expected
    for already_gone, run in enumerate(expected):
        assert next(policy.victims()) is run
        assert list(policy.victims()) == expected[already_gone:]
        assert policy.victim() is run
        take(policy, run)
    assert policy.victim() is None


def test_a_state_that_others_lie_below_goes_without_its_kv():
    policy = ValueEviction()
    policy.begin(WORLD)
    request(policy)
    trunk = span_below(root(), 2)
    shared, end = state_in(trunk, 2), state_in(span_below(trunk, 900), 900)
    for entry in (end.span, trunk, shared, end):
        policy.on_insert(entry)
    assert list(policy.victims()) == [shared, end.span, trunk]
    assert policy.victim() is shared  # 2 seconds / 10 bytes against 898 / 908


def test_a_state_is_weighed_without_its_kv_once_another_prompt_goes_on_from_it():
    policy = ValueEviction(step=1.1)
    policy.begin(WORLD)
    request(policy)
    run, other = span_below(root(), 40), span_below(root(), 900)
    for entry in (run, other, state_in(run, 40), state_in(other, 900)):
        policy.on_insert(entry)
    assert policy.victim() is run  # 40 seconds / 50 bytes against 900 / 910
    below = span_below(run, 50)
    below.pins = 1
    policy.on_insert(below)
    assert policy.victim() is other  # against 40 / 10, since that KV stays

"""Admission that looks at prefixes, worked by hand."""

from __future__ import annotations

from policies.admission.branch_only import BranchOnly
from policies.admission.value import Value
from simulator.entry import Checkpoint
from tests.policies.eviction.hand import WORLD, request, root, run_below, state_in


def test_branch_only_admits_branch_points_ends_and_kv():
    policy = BranchOnly()
    policy.begin(WORLD)
    trunk = run_below(root(), 10)
    run_below(trunk, 13)
    leaf = run_below(trunk, 20)
    request(policy, prompt_tokens=20, depth=10, run=leaf)
    admitted = [p for p in (5, 10, 15, 20) if policy.admit(Checkpoint(leaf, p, 10), 10, None)]
    assert admitted == [10, 20]
    assert policy.admit(Checkpoint(run_below(leaf, 25), 25, 10), 10, None)  # behind the answer
    assert policy.admit(leaf, 10, None)


def passed(policy, run):
    request(policy, prompt_tokens=run.stop, run=run)


def test_value_admits_what_saves_more_per_byte():
    policy = Value()
    policy.begin(WORLD)
    long, short = (state_in(run_below(root(), stop), stop) for stop in (40, 15))
    assert policy.admit(short, 10, None)  # there is room
    passed(policy, long.run)
    passed(policy, short.run)
    assert policy.admit(long, 10, short)  # 40 / 10, once, against 15 / 10
    assert not policy.admit(short, 10, long)
    passed(policy, short.run)
    passed(policy, short.run)
    assert policy.admit(short, 10, long)  # three times 15


def test_value_lets_uses_fade():
    policy = Value(half_life=2)
    policy.begin(WORLD)
    old, new = (state_in(run_below(root(), stop), stop) for stop in (30, 20))
    passed(policy, old.run)
    passed(policy, new.run)
    assert policy.admit(old, 10, new)  # 30 x 0.7 against 20
    passed(policy, new.run)
    assert not policy.admit(old, 10, new)  # 30 x 0.5 against 20 x 1.7


def test_value_measures_kv_with_the_state_that_it_is_good_for():
    policy = Value()
    policy.begin(WORLD)
    held = run_below(root(), 40)
    state_in(held, 40)  # 40 seconds / 50 bytes
    bare = run_below(root(), 500)
    new = run_below(root(), 20)  # 20 seconds / 30 bytes, with a state at its end
    for run in (held, bare, new):
        passed(policy, run)
    assert policy.admit(new, 20, bare)  # nothing resumes there
    assert not policy.admit(new, 20, held)
    passed(policy, new)
    assert policy.admit(new, 20, held)

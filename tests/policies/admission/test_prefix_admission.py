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


def test_value_admits_what_saves_more_per_byte():
    policy = Value()
    policy.begin(WORLD)
    long, short = (state_in(run_below(root(), stop), stop) for stop in (40, 15))
    assert policy.admit(long, 10, None)
    assert policy.admit(long, 10, short)  # 2 x 40 / 10 against 15 / 10
    policy = Value()
    policy.begin(WORLD)
    assert [policy.admit(short, 10, long) for _ in range(3)] == [False, False, True]  # 45 > 40
    bare = run_below(root(), 30)
    assert policy.admit(bare, 30, short) is False  # 30 seconds / 30 bytes

"""KV behind the last state of its run."""

from __future__ import annotations

from policies.orders.bare import BareKv, BareView
from policies.orders.outlook import Outlook
from tests.policies.eviction.hand import root, run_below, state_in


def ahead(bare):
    """Return what would go when each run goes whole."""
    outlook = Outlook()
    view, found = BareView(bare, outlook), []
    while (run := view.take()) is not None:
        found.append(run)
        view.offer(outlook.let_go(run))
    return found


def test_what_lies_bare_waits_in_the_order_in_which_it_came_to():
    bare = BareKv()
    first, second, third = (run_below(root(), 10) for _ in range(3))
    for run in (first, second, third, first):
        bare.offer(run)
    assert list(bare.runs.values()) == [second, third, first]
    second.pins += 1
    assert ahead(bare) == [third, first]
    state_in(third, 10)  # the last token has a state behind it
    assert ahead(bare) == [first]
    bare.offer(third)
    assert list(bare.runs.values()) == [second, first]


def test_kv_that_others_need_or_states_end_is_not_bare():
    bare = BareKv()
    trunk = run_below(root(), 10)
    leaf, ended = run_below(trunk, 20), run_below(root(), 10)
    state_in(leaf, 15)
    state_in(ended, 10)
    for run in (trunk, leaf, ended):
        bare.offer(run)
    assert list(bare.runs.values()) == [leaf]
    assert ahead(bare) == [leaf, trunk]


def test_the_upper_part_of_a_run_takes_its_place_where_it_has_all_kv():
    bare = BareKv()
    lower, other = run_below(root(), 10), run_below(root(), 10)
    bare.offer(lower)
    bare.offer(other)
    lower.kv_end, lower.size_bytes = 4, 4
    upper = lower.cut(4, 1)
    bare.split(upper, lower)
    assert list(bare.runs.values()) == [upper, other]
    assert lower.policy_data is None
    below = upper.cut(2, 2)
    bare.split(below, upper)  # both hold KV: the lower part goes first
    assert list(bare.runs.values()) == [upper, other]
    assert below.policy_data is None


def test_what_is_freed_ahead_of_time_goes_last_even_if_it_had_a_place():
    bare = BareKv()
    trunk = run_below(root(), 10)
    bare.offer(trunk)
    leaf, other = run_below(trunk, 20), run_below(root(), 10)
    bare.offer(leaf)
    bare.offer(other)
    assert ahead(bare) == [leaf, other, trunk]

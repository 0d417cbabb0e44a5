"""KV behind the last state of its span."""

from __future__ import annotations

from policies.orders.bare import BareKv, BareView
from policies.orders.outlook import Outlook
from tests.policies.eviction.hand import root, span_below, state_in


def ahead(bare):
    """Return what would go when each span goes whole."""
    outlook = Outlook()
    view, spans = BareView(bare, outlook), []
    while (span := view.take()) is not None:
        spans.append(span)
        view.offer(outlook.let_go(span))
    return spans


def test_what_lies_bare_waits_in_the_order_in_which_it_came_to():
    bare = BareKv()
    first, second, third = (span_below(root(), 10) for _ in range(3))
    for span in (first, second, third, first):
        bare.offer(span)
    assert list(bare.spans.values()) == [second, third, first]
    second.pins += 1
    assert ahead(bare) == [third, first]
    state_in(third, 10)  # the last token has a state behind it
    assert ahead(bare) == [first]
    bare.offer(third)
    assert list(bare.spans.values()) == [second, first]


def test_kv_that_others_need_or_states_end_is_not_bare():
    bare = BareKv()
    trunk = span_below(root(), 10)
    leaf, ended = span_below(trunk, 20), span_below(root(), 10)
    state_in(leaf, 15)
    state_in(ended, 10)
    for span in (trunk, leaf, ended):
        bare.offer(span)
    assert list(bare.spans.values()) == [leaf]
    assert ahead(bare) == [leaf, trunk]


def test_the_upper_part_of_a_span_takes_its_place_where_it_has_all_kv():
    bare = BareKv()
    lower, other = span_below(root(), 10), span_below(root(), 10)
    bare.offer(lower)
    bare.offer(other)
    lower.kv_end, lower.size_bytes = 4, 4
    upper = lower.cut(4, 1)
    bare.split(upper, lower)
    assert list(bare.spans.values()) == [upper, other]
    assert lower.policy_data is None
    below = upper.cut(2, 2)
    bare.split(below, upper)  # both hold KV: the lower part goes first
    assert list(bare.spans.values()) == [upper, other]
    assert below.policy_data is None


def test_what_is_freed_ahead_of_time_goes_last_even_if_it_had_a_place():
    bare = BareKv()
    trunk = span_below(root(), 10)
    bare.offer(trunk)
    leaf, other = span_below(trunk, 20), span_below(root(), 10)
    bare.offer(leaf)
    bare.offer(other)
    assert ahead(bare) == [leaf, other, trunk]

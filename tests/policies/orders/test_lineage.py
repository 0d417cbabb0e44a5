"""The nearest state above, held against a walk up the tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.lineage import Lineage, state_above
from simulator.plugins.entries import Checkpoint
from tests.policies.eviction.hand import root, span_below, state_in

TREES = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=9)
STEPS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.booleans()), max_size=40)


def tree_of(shape):
    """Return spans, each below one that is already there, or below the root."""
    spans = []
    top = root()
    for above, tokens in shape:
        parent = spans[above] if above < len(spans) else top
        spans.append(span_below(parent, parent.stop + tokens))
    return spans


def brute_force(held):
    return {checkpoint: state_above(checkpoint) for checkpoint in held}


@given(TREES, STEPS)
def test_it_knows_the_nearest_above_whatever_comes_and_goes(shape, steps):
    spans, lineage = tree_of(shape), Lineage()
    held: set[Checkpoint] = set()
    for number, offset, cuts in steps:
        span = spans[number % len(spans)]
        position = min(span.start + offset, span.stop)
        if cuts and position < span.stop:
            spans.append(span.cut(position, 0))
            lineage.split(spans[-1], span)
            assert lineage.above == brute_force(held)
            continue
        before = brute_force(held)
        checkpoint = span.deepest_checkpoint(position)
        if checkpoint is not None and checkpoint.position == position:
            held.remove(checkpoint)
            span.remove(checkpoint)
            moved = lineage.remove(checkpoint)
        else:
            checkpoint = state_in(span, position)
            held.add(checkpoint)
            moved = lineage.add(checkpoint)
        after = brute_force(held)
        assert lineage.above == after
        assert set(moved) == {c for c in before if c in after and before[c] != after[c]}
        assert len(set(moved)) == len(moved)


def test_states_of_one_span_go_from_the_middle():
    """What lies in a span below belongs to the state above when that in between has gone."""
    top = root()
    span = span_below(top, 30)
    lower = span_below(span, 40)
    lineage = Lineage()
    first, middle, last = state_in(span, 10), state_in(span, 20), state_in(lower, 40)
    for checkpoint in (first, middle, last):
        lineage.add(checkpoint)
    span.remove(middle)
    assert lineage.remove(middle) == [last]
    assert lineage.above[last] == 10
    lower.remove(last)
    assert lineage.remove(last) == []
    span.add(middle)
    assert lineage.add(middle) == []

"""The nearest state above, held against a walk up the tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.lineage import Lineage, state_above
from simulator.plugins.entries import Checkpoint
from tests.policies.eviction.hand import root, run_below, state_in

TREES = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=9)
STEPS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=40)


def tree_of(shape):
    """Return runs, each below one that is already there, or below the root."""
    runs = []
    top = root()
    for above, tokens in shape:
        parent = runs[above] if above < len(runs) else top
        runs.append(run_below(parent, parent.stop + tokens))
    return runs


def brute_force(held):
    return {checkpoint: state_above(checkpoint) for checkpoint in held}


@given(TREES, STEPS)
def test_it_knows_the_nearest_above_whatever_comes_and_goes(shape, steps):
    runs, lineage = tree_of(shape), Lineage()
    held: dict[tuple[int, int], Checkpoint] = {}
    for number, offset in steps:
        run = runs[number % len(runs)]
        place = (number % len(runs), min(run.start + offset, run.stop))
        before = brute_force(held.values())
        if place in held:
            checkpoint = held.pop(place)
            run.remove(checkpoint)
            moved = lineage.remove(checkpoint)
        else:
            checkpoint = held[place] = state_in(run, place[1])
            moved = lineage.add(checkpoint)
        after = brute_force(held.values())
        assert lineage.above == after
        assert set(moved) == {c for c in before if c in after and before[c] != after[c]}
        assert len(set(moved)) == len(moved)


def test_states_of_one_run_go_from_the_middle():
    """What lies in a run below belongs to the state above when that in between has gone."""
    top = root()
    run = run_below(top, 30)
    lower = run_below(run, 40)
    lineage = Lineage()
    first, middle, last = state_in(run, 10), state_in(run, 20), state_in(lower, 40)
    for checkpoint in (first, middle, last):
        lineage.add(checkpoint)
    run.remove(middle)
    assert lineage.remove(middle) == [last]
    assert lineage.above[last] == 10
    lower.remove(last)
    assert lineage.remove(last) == []
    run.add(middle)
    assert lineage.add(middle) == []

"""Placers choose what stays under a cap: exactly, where their plan is exact."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.placement.retention import best_for, best_for_uniform
from policies.registry import create
from simulator.plugins.protocols import Overlap, Retaining
from tests.contracts.prefixes import build_prefix
from tests.contracts.test_placers import SPECS

POSITIONS = st.sets(st.integers(1, 30), min_size=1, max_size=7).map(sorted)
LAWS = st.dictionaries(st.integers(1, 35), st.integers(0, 9), min_size=1, max_size=9)


def saving(kept, law):
    """Return what overlaps save: each the deepest kept position that it reaches."""
    return sum(
        weight * max((p for p in kept if p <= depth), default=0) for depth, weight in law.items()
    )


@settings(max_examples=200)
@given(law=LAWS, states=POSITIONS, wanted=POSITIONS, most=st.integers(1, 6))
def test_no_other_choice_saves_more(law, states, wanted, most):
    depths = np.array(sorted(law))
    weights = np.array([law[depth] for depth in depths.tolist()], dtype=float)
    kept = best_for(depths, weights, states, wanted, most)
    candidates = sorted({*states, *wanted})
    assert set(kept) <= set(candidates)
    assert len(kept) == min(most, len(candidates))
    best = max(saving(each, law) for each in combinations(candidates, len(kept)))
    assert saving(kept, law) == best


@settings(max_examples=100)
@given(law=LAWS, states=POSITIONS)
def test_savings_rise_with_the_cap_and_ever_less(law, states):
    depths = np.array(sorted(law))
    weights = np.array([law[depth] for depth in depths.tolist()], dtype=float)
    curve = [saving(best_for(depths, weights, states, [], most), law) for most in range(1, 9)]
    gains = np.diff([0, *curve])
    assert (gains >= 0).all()
    assert (np.diff(gains) <= 0).all()


@given(states=POSITIONS, wanted=POSITIONS, most=st.integers(1, 6))
def test_a_uniform_law_is_that_of_all_depths(states, wanted, most):
    law = dict.fromkeys(range(1, 41), 1)
    kept = best_for_uniform(states, wanted, most, 40)
    candidates = sorted({*states, *wanted})
    best = max(saving(each, law) for each in combinations(candidates, len(kept)))
    assert saving(kept, law) == best


def taught(spec, depths, length=100):
    placer = create("placer", spec)
    for depth in depths:
        placer.observe(Overlap(depth, length))
    return placer


def test_each_keeps_by_its_own_law():
    prefix = build_prefix([100])
    overlaps = [30, 50, 50, 90] * 5  # the plan of two is 50 and 90
    states, wanted = [20, 50], [60, 90]
    for spec, kept in {
        "optimal:budget=2,replan=1": [50, 90],
        "greedy:budget=1,replan=1": [50, 90],
        "thinned:budget=2,replan=1": [50, 90],
        "robust:budget=2,margin=0,replan=1": [50, 90],
        "published:budget=2": [20, 60],  # bins of 64 tokens: 0, 0, 0 and 64
        "balanced:budget=2": [20, 60],
        "block:size=20": [60, 90],
    }.items():
        assert list(taught(spec, overlaps).retain(prefix, states, wanted, 2)) == kept, spec


def test_the_branch_stays_where_depths_are_counted_from_it():
    prefix = build_prefix([40, 100], resume=0)
    prefix.overlap = 40
    placer = taught("optimal:budget=2,replan=1,coordinate=branch", [])
    for _ in range(20):
        overlap = Overlap(50, 100, span=build_prefix([40, 50, 100], diverged=[40]).span)
        placer.observe(overlap)
    assert 40 in placer.retain(prefix, [20, 40], [90], 2)


def test_random_keeps_a_random_choice_that_does_not_change():
    placer = create("placer", "random:budget=3")
    prefix = build_prefix([1000])
    kept = placer.retain(prefix, range(10, 500, 10), range(500, 1000, 10), 5)
    assert len(kept) == 5
    assert set(placer.retain(prefix, kept, [1000], 5)) <= {*kept, 1000}
    counts = np.zeros(10)
    for seed in range(400):
        other = create("placer", f"random:budget=3,seed={seed}")
        for position in other.retain(prefix, range(1, 6), range(6, 11), 5):
            counts[position - 1] += 1
    assert (abs(counts - 200) < 50).all()  # 5 standard deviations


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=30, deadline=None)
@given(
    history=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), max_size=12),
    states=POSITIONS,
    wanted=POSITIONS,
    most=st.integers(1, 6),
    length=st.integers(1, 40),
)
def test_every_placer_keeps_at_most_the_cap(spec, history, states, wanted, most, length):
    placer = create("placer", spec)
    for depth, tokens in history:
        placer.observe(Overlap(depth, tokens))
    assert isinstance(placer, Retaining)
    states = [position for position in states if position not in wanted]
    kept = list(placer.retain(build_prefix([length]), states, wanted, most))
    assert kept == sorted(set(kept))
    assert set(kept) <= {*states, *wanted}
    assert len(kept) <= most
    assert kept == list(placer.retain(build_prefix([length]), states, wanted, most))

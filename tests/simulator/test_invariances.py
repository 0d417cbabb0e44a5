"""What must change nothing: units, names of nodes, room that is never used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import create
from simulator.results.records import COUNT_COLUMNS
from simulator.simulation import Scenario, simulate
from simulator.trace.prefix_tree import PrefixTree
from tests.simulator.prompts import toy_profile, trace_of
from workloads.opening import open_trace

PROMPTS = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=10).map(tuple), min_size=1, max_size=14
)
EVICTIONS = st.sampled_from(["lru", "fifo", "lfu", "gdsf"])
TOKEN_COLUMNS = [name for name in COUNT_COLUMNS if not name.endswith("bytes")]


def replay(trace, profile, placer, eviction, capacity, server="instant", check=False):
    """Return the columns of a run with the named policies, and its peak."""
    scenario = Scenario(
        profile=profile,
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", eviction),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity,
        server=server,
        check_every_request=check,
    )
    result = simulate(trace, scenario)
    return result.columns, result.counters.peak_bytes


def agree(one, other, names):
    for name in names:
        assert one[name].tolist() == other[name].tolist(), name


@settings(max_examples=60)
@given(
    prompts=PROMPTS,
    capacity=st.integers(0, 60),
    scale=st.integers(2, 10**9),
    page=st.integers(1, 3),
    placer=st.sampled_from(["last", "branch", "block:size=3", "balanced:budget=2"]),
    eviction=EVICTIONS,
)
def test_the_unit_of_bytes_does_not_matter(prompts, capacity, scale, page, placer, eviction):
    trace = trace_of(prompts)
    one, _ = replay(trace, toy_profile(1, 7, page), placer, eviction, capacity)
    larger = toy_profile(scale, 7 * scale, page)
    other, _ = replay(trace, larger, placer, eviction, capacity * scale)
    agree(one, other, TOKEN_COLUMNS)
    assert (one["kv_bytes"] * scale == other["kv_bytes"]).all()


@settings(max_examples=60)
@given(
    prompts=PROMPTS,
    spare=st.integers(0, 3),
    placer=st.sampled_from(["last", "branch", "block:size=3", "none", "dense"]),
    eviction=EVICTIONS,
)
def test_room_beyond_the_peak_does_not_matter(prompts, spare, placer, eviction):
    trace = trace_of(prompts)
    unbounded, peak = replay(trace, toy_profile(), placer, eviction, None)
    bounded, _ = replay(trace, toy_profile(), placer, eviction, peak + spare)
    agree(unbounded, bounded, COUNT_COLUMNS)


@settings(max_examples=60)
@given(
    prompts=PROMPTS,
    answers=st.booleans(),
    capacity=st.one_of(st.none(), st.integers(0, 60)),
    placer=st.sampled_from(["adaptive", "branch", "last", "greedy:budget=2"]),
    eviction=EVICTIONS,
    data=st.data(),
)
def test_the_numbers_of_nodes_do_not_matter(prompts, answers, capacity, placer, eviction, data):
    trace = trace_of(prompts, answers=[(i % 2, 1) for i in range(len(prompts))] * answers or None)
    renumbered = with_other_numbers(trace, data.draw(st.permutations(range(trace.tree.nodes))))
    assert renumbered.problem() is None
    one, _ = replay(trace, toy_profile(), placer, eviction, capacity)
    other, _ = replay(renumbered, toy_profile(), placer, eviction, capacity)
    agree(one, other, COUNT_COLUMNS)


def with_other_numbers(trace, order):
    """Return the trace with its nodes in `order`, as far as parents stay before their children."""
    tree = trace.tree
    placed = [0]
    while len(placed) < tree.nodes:
        placed.append(next(i for i in order if i not in placed and tree.parent[i] in placed))
    number = np.argsort(placed)
    return replace(
        trace,
        tree=PrefixTree(
            np.array([-1, *number[tree.parent[placed[1:]]]], dtype=np.int32),
            tree.start[placed],
            tree.stop[placed],
        ),
        leaf=number[trace.leaf].astype(np.int32),
        after=None if trace.after is None else number[trace.after].astype(np.int32),
    )


@pytest.mark.parametrize("placer", ["adaptive", "block:size=1024", "branch"])
@pytest.mark.parametrize("eviction", ["lru", "s3fifo", "gdsf"])
def test_the_books_balance_on_real_traffic(shared, placer, eviction):
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    trace = open_trace(path, block=512)
    columns = ("leaf", "arrival_seconds", "output_tokens", "session", "label")
    trace = replace(trace, **{name: getattr(trace, name)[:500] for name in columns})
    _, peak = replay(trace, toy_profile(1, 2000, 16), placer, eviction, None, "queue")
    capacity = peak // 10
    rows, used = replay(trace, toy_profile(1, 2000, 16), placer, eviction, capacity, "queue", True)
    assert len(rows["status"]) == 500
    assert capacity / 2 < used <= capacity

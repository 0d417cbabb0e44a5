from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.trace.trace import Trace
from workloads.inspection.overlaps import overlaps
from workloads.prefixes.interning import intern_blocks
from workloads.stack_distance import RecencyTree
from workloads.synthetic import SyntheticSpec
from workloads.synthetic import generate as built_in
from workloads.twin.meetings import BRANCH, COLD, END, INSIDE, OLD_END, meetings


def trace_of(*prompts: str, block: int = 1) -> Trace:
    """Return a trace of prompts, a character a block, each letter with all before it one id."""
    names: dict[str, int] = {}
    keys = [
        names.setdefault(prompt[: at + 1], len(names))
        for prompt in prompts
        for at in range(len(prompt))
    ]
    lengths = np.array([len(prompt) for prompt in prompts], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    interned = intern_blocks(np.array(keys, dtype=np.uint64), offsets, lengths * block, block)
    nothing = np.full(len(prompts), -1, dtype=np.int32)
    return Trace(
        name="hand-made",
        tree=interned.tree,
        leaf=interned.leaf,
        arrival_seconds=None,
        output_tokens=np.zeros(len(prompts), dtype=np.int64),
        session=nothing,
        label=nothing,
        granularity=block,
    )


def test_meetings_worked_by_hand():
    met = meetings(trace_of("abcd", "abcdef", "xy", "abX", "abY", "abcdZ"))
    assert met.meeting.tolist() == [COLD, END, COLD, INSIDE, BRANCH, OLD_END]
    assert met.source.tolist() == [-1, 0, -1, 1, 3, 1]
    assert met.depth.tolist() == [0, 4, 0, 2, 2, 4]
    assert met.new.tolist() == [4, 2, 2, 1, 1, 1]
    # since request 1: xy (2); since 3: nothing; since 1 again: xy, ab, X, Y
    assert met.distance.tolist() == [0, 0, 0, 2, 0, 6]
    # request 5 shares abcd with request 1, of which ab has been used since
    assert met.own.tolist() == [0, 4, 0, 2, 2, 2]
    assert met.fresh.tolist() == [0, 4, 0, 0, 0, 0]
    assert met.beyond.tolist() == [0, 0, 0, 4, 0, 0]


def test_a_place_inside_a_prompt_seen_once_is_fresh():
    met = meetings(trace_of("abcdef", "abcX"))
    assert (met.meeting[1], met.fresh[1], met.beyond[1]) == (INSIDE, 3, 3)


def test_a_repeated_prompt_meets_an_end():
    met = meetings(trace_of("abc", "abc"))
    assert (met.meeting[1], met.depth[1], met.new[1]) == (END, 3, 0)


@pytest.mark.parametrize("seed", [0, 1])
def test_depths_are_the_overlaps(seed):
    trace = built_in(SyntheticSpec(requests=600, seed=seed))
    met = meetings(trace)
    assert (met.depth == overlaps(trace)).all()
    assert (met.depth + met.new == trace.prompt_tokens).all()
    assert ((met.source >= 0) == (met.depth > 0)).all()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.floats(0, 2000, allow_nan=False))
def test_recency_agrees_with_sums(tokens, distance):
    recency = RecencyTree(len(tokens))
    for request, count in enumerate(tokens):
        recency.add(request, count)
    since = [sum(tokens[request + 1 :]) for request in range(len(tokens))]
    assert [recency.since(request) for request in range(len(tokens))] == since
    earliest = next(at for at, later in enumerate(since) if later <= distance)
    if distance < sum(tokens):
        assert recency.request_at(distance) == earliest
    else:
        assert recency.request_at(distance) == 0

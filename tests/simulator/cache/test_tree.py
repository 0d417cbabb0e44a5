"""Spans end where prompts were seen to diverge or end, and nowhere else."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cache.tree import KvTree
from simulator.plugins.entries import Checkpoint, KvSpan
from tests.simulator.prompts import node_ends, trace_of

PROMPTS = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=12).map(tuple), min_size=1, max_size=20
)


def path_of(span):
    """Return where the spans of the path down to `span` start and stop."""
    path = []
    while span.stop:
        path.append((span.start, span.stop))
        span = span.parent
    return path[::-1]


def expected(prompt, came):
    """Return the same by brute force, when the prompts in `came` have come."""
    stops = [len(end) for end in node_ends(came) if end == prompt[: len(end)]]
    return list(zip([0, *stops], stops, strict=False))


@given(PROMPTS)
def test_they_end_where_the_past_has_shown_it(prompts):
    trace, split = trace_of(prompts), []
    spans = KvTree(trace.tree, lambda *parts: split.append(parts))
    leaves = []
    for request, leaf in enumerate(trace.leaf.tolist()):
        before = len(list(spans))
        leaves.append(spans.at(leaf, request))
        came = prompts[: request + 1]
        for prompt, known in zip(came, leaves, strict=True):  # a leaf stays the same object
            assert path_of(known) == expected(prompt, came)
        ends = node_ends(came)
        assert len(list(spans)) == len(ends) <= before + 2
        for node, prefix in enumerate(node_ends(prompts), 1):
            span = spans.covering(node)
            below = [end for end in ends if end[: len(prefix)] == prefix]
            covering = None if span is None else prompts[span.request][: span.stop]
            assert covering == min(below, key=len, default=None)
        for span in [spans.root, *spans]:
            assert span.children_seen == sum(other.parent is span for other in spans)
    assert all(upper.stop == lower.start for upper, lower in split[-1:])


@given(st.permutations(range(1, 40)))
def test_nodes_are_covered_in_whatever_order_a_span_is_cut(depths):
    trace = trace_of([(0,) * 40, *((0,) * depth + (1,) for depth in depths)])
    spans, stops = KvTree(trace.tree, lambda *parts: None), [40]
    trunk = [node for node in trace.tree.path(int(trace.leaf[0])) if node]
    for request, leaf in enumerate(trace.leaf.tolist()):
        spans.at(leaf, request)
        stops = sorted([40, *depths[:request]])
        covering = [spans.covering(node).stop for node in trunk]
        assert covering == [stops[bisect_left(stops, depth)] for depth in range(1, 41)]


@given(PROMPTS)
def test_with_foresight_they_are_the_nodes(prompts):
    trace = trace_of(prompts)
    spans = KvTree(trace.tree, lambda *parts: pytest.fail("split"), foresee=True)
    for request, (prompt, leaf) in enumerate(zip(prompts, trace.leaf.tolist(), strict=True)):
        assert path_of(spans.at(leaf, request)) == expected(prompt, prompts)


@given(PROMPTS)
def test_request_and_stop_name_a_prefix_for_good(prompts):
    trace = trace_of(prompts)
    spans = KvTree(trace.tree, lambda *parts: None)
    names = {}
    for request, leaf in enumerate(trace.leaf.tolist()):
        spans.at(leaf, request)
        for span in spans:
            prefix = prompts[span.request][: span.stop]
            assert names.setdefault(prefix, (span.request, span.stop)) == (span.request, span.stop)
    assert len(set(names.values())) == len(names)


def span_of_ten(kv_end):
    span = KvSpan(KvSpan(None, -1, 0), 0, 10, request=3)
    span.kv_end, span.kv_admitted_end, span.size_bytes = kv_end, 9, 7 * kv_end
    span.done_end = 9
    for position in (2, 4, 5):
        if position <= kv_end:
            span.add(Checkpoint(span, position, 50))
    span.dropped, span.wanted = [3, 4, 8], [7]
    return span


def test_a_cut_divides_bytes_states_and_memory():
    lower = span_of_ten(8)
    checkpoints = list(lower.checkpoints)
    upper = lower.cut(4, 99)
    assert (upper.start, upper.kv_end, upper.stop, upper.size_bytes) == (0, 4, 4, 28)
    assert (lower.start, lower.kv_end, lower.stop, lower.size_bytes) == (4, 8, 10, 28)
    assert (upper.kv_admitted_end, lower.kv_admitted_end) == (4, 9)
    assert (upper.done_end, lower.done_end) == (4, 9)
    assert (upper.node, upper.request) == (99, 3)
    assert lower.parent is upper
    assert upper.children_resident == upper.children_seen == 1
    assert upper.checkpoints == checkpoints[:2]
    assert lower.checkpoints == checkpoints[2:]
    assert [checkpoint.span for checkpoint in checkpoints] == [upper, upper, lower]
    assert [checkpoint.key for checkpoint in checkpoints] == [(3, 2), (3, 4), (3, 5)]
    assert (upper.dropped, lower.dropped) == ([3, 4], [8])
    assert (list(upper.wanted), lower.wanted) == ([], [7])


@pytest.mark.parametrize(("kv_end", "whole"), [(4, True), (3, False), (0, False)])
def test_a_span_cut_beyond_its_kv_has_it_all_above(kv_end, whole):
    lower = span_of_ten(kv_end)
    upper = lower.cut(4, 99)
    assert not lower.resident
    assert (lower.kv_end, lower.size_bytes, upper.children_resident) == (4, 0, 0)
    assert (upper.kv_end, upper.size_bytes) == (kv_end, 7 * kv_end)
    assert (upper.kv_end == upper.stop) == whole
    assert list(lower.checkpoints) == []

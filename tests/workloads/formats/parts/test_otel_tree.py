"""Only the leaves are calls, at any depth and in any order of the file."""

from __future__ import annotations

import itertools

import pytest

from workloads.formats.parts.otel_tree import SpanNode, SpanTree, kind_of


def tree(*spans):
    """Return a settled tree of (key, parent, kind, start, end, tokens); no times: no call."""
    grown = SpanTree()
    for key, parent, kind, *rest in spans:
        grown.see(key, parent, kind, SpanNode(kind, *rest) if rest else None)
    grown.settle()
    return grown


def left_out(*spans):
    spans_tree = tree(*spans)
    return {key for key, *_ in spans if spans_tree.is_aggregate(key)}


AGENT = [
    ("agent", None, "around", 0, 90, (60, 6)),
    ("step", "agent", "unknown"),
    ("first", "step", "model", 0, 10, (10, 1)),
    ("tool", "step", "tool"),
    ("inner", "tool", "around", 10, 80, (50, 5)),
    ("second", "inner", "model", 20, 30, (20, 2)),
    ("third", "inner", "model", 30, 40, (30, 3)),
]


@pytest.mark.parametrize("turn", range(len(AGENT)))
def test_agents_at_any_depth_are_left_out_wherever_they_stand(turn):
    spans = AGENT[turn:] + AGENT[:turn]
    assert left_out(*spans) == {"agent", "inner"}
    assert left_out(*reversed(spans)) == {"agent", "inner"}


def test_an_agent_without_calls_below_counts():
    assert left_out(("agent", None, "around", 0, 9, (5, 1)), ("t", "agent", "tool")) == set()


def test_a_library_around_another_is_left_out():
    outer = ("outer", None, "model", 0, 10, (7, 1))
    assert left_out(outer, ("inner", "outer", "model", 1, 9, (7, 1))) == {"outer"}


def test_turns_below_the_turn_before_are_calls():
    turns = [(f"t{n}", f"t{n - 1}", "model", 20 * n, 20 * n + 9, (n, 1)) for n in range(1, 5)]
    for order in itertools.permutations(turns):
        assert left_out(*order) == set()


def test_a_sum_of_several_is_left_out_whatever_its_times():
    whole = ("whole", None, "model", 0, 1, (30, 3))
    parts = [("a", "whole", "model", 5, 6, (10, 1)), ("b", "whole", "model", 7, 8, (20, 2))]
    assert left_out(whole, *parts) == {"whole"}


def test_a_model_whose_tool_calls_a_model_is_a_call():
    asks = ("asks", None, "model", 0, 50, (10, 1))
    tool = ("tool", "asks", "tool")
    assert left_out(asks, tool, ("inner", "tool", "model", 10, 20, (5, 1))) == set()


def test_circles_end():
    spans = [("a", "b", "around", 0, 1, (1, 1)), ("b", "a", "unknown"), ("c", "c", "model", 0, 1)]
    assert left_out(*spans) == set()
    assert not tree(*spans).is_aggregate(None)


@pytest.mark.parametrize(
    ("name", "attributes", "kind"),
    [
        ("x", {"gen_ai.operation.name": "invoke_agent"}, "around"),
        ("x", {"openinference.span.kind": "LLM"}, "model"),
        ("x", {"traceloop.span.kind": "tool"}, "tool"),
        ("execute_tool find", {}, "tool"),
        ("embeddings m", {}, "no call"),
        ("GET /", {}, "unknown"),
    ],
)
def test_what_a_span_is_around(name, attributes, kind):
    assert kind_of(name, attributes) == kind

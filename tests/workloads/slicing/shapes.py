"""What two traces must agree in to be the same but for the numbers of their nodes."""

from __future__ import annotations

from itertools import combinations

from simulator.trace.trace import Trace


def path_stops(trace: Trace, node: int) -> list[int]:
    return [int(trace.tree.stop[each]) for each in trace.tree.path(node)]


def shared_tokens(trace: Trace, one: int, other: int) -> int:
    common = set(trace.tree.path(one)) & set(trace.tree.path(other))
    return max((int(trace.tree.stop[node]) for node in common), default=0)


def ends(trace: Trace) -> list[int]:
    after = trace.leaf if trace.after is None else trace.after
    return [
        node
        for leaf, end in zip(trace.leaf.tolist(), after.tolist(), strict=True)
        for node in (leaf, end if end >= 0 else leaf)
    ]


def shape(trace: Trace) -> tuple[object, ...]:
    """Return all that the prefix tree says of the requests, whatever its nodes are numbered."""
    nodes = ends(trace)
    return (
        trace.tree.nodes,
        [path_stops(trace, node) for node in nodes],
        [shared_tokens(trace, one, other) for one, other in combinations(nodes, 2)],
    )

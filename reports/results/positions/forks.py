"""Branch points of a trace's prefix tree, and the request at which each first becomes visible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

NEVER = np.iinfo(np.int64).max


def forks_seen(trace: Trace) -> NDArray[np.int64]:
    """Return, for each node, the first request by which its end is a branch point.

    The end of a node is a branch point once two different continuations have occurred there. A
    continuation is a child of the node, or a prompt that ends there. The request returned is that
    of the second continuation, as an index in order of arrival, or NEVER without a second one.
    int64, shape (nodes,).
    """
    tree, requests = trace.tree, np.arange(len(trace))
    ends = np.full(tree.nodes, NEVER)
    np.minimum.at(ends, trace.leaf, requests)
    if trace.after is not None:
        known = trace.after >= 0
        np.minimum.at(ends, trace.after[known], requests[known])
    ended = np.flatnonzero(ends != NEVER)
    at = np.concatenate([tree.parent[1:], ended])
    when = np.concatenate([_first_to_pass(ends, tree.parent)[1:], ends[ended]])
    order = np.lexsort((when, at))
    at, when = at[order], when[order]
    start = np.searchsorted(at, np.arange(tree.nodes))
    second = np.minimum(start + 1, max(len(at) - 1, 0))
    several = (start + 1 < len(at)) & (at[second] == np.arange(tree.nodes)) if len(at) else False
    seen = np.full(tree.nodes, NEVER)
    return np.where(several, when[second], seen) if len(at) else seen


def _first_to_pass(ends: NDArray[np.int64], parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each node, the first request whose path through the tree contains it."""
    first, above = ends.tolist(), parent.tolist()
    for node in range(len(first) - 1, 0, -1):  # parents stand before their children
        if first[node] < first[above[node]]:
            first[above[node]] = first[node]
    return np.array(first, dtype=np.int64)


def at_forks(
    trace: Trace,
    seen: NDArray[np.int64],
    grid: Grid,
    request: NDArray[np.int64],
    position: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return, for each position, whether it is a known branch point rounded down to `grid`.

    A branch point is known if it was visible by the position's request (see `forks_seen`). All
    positions are looked up at once, on a walk from the end of each prompt towards the root.
    """
    tree = trace.tree
    at_fork = np.zeros(len(position), dtype=np.bool_)
    node = trace.leaf[request].astype(np.int64)
    if trace.after is not None:
        after = trace.after[request]
        node = np.where((position > tree.stop[node]) & (after >= 0), after, node)
    ends, start, parent = floored(grid, tree.stop), tree.start, tree.parent
    walking = np.arange(len(position))
    while len(walking):
        here, wanted = node[walking], position[walking]
        hit = (ends[here] == wanted) & (seen[here] <= request[walking])
        at_fork[walking[hit]] = True
        walking = walking[~hit & (start[here] >= wanted)]
        node[walking] = parent[node[walking]]
    return at_fork


def floored(grid: Grid, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return many positions rounded down as `grid.floor` does for one."""
    positions = positions - positions % grid.granularity
    return positions - positions % grid.alignment

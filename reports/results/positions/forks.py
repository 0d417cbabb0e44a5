"""First requests at which each branch point of a trace can be known to a placer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.trace.grid import Grid
from simulator.trace.trace import Trace

NEVER = np.iinfo(np.int64).max


def forks_seen(trace: Trace) -> NDArray[np.int64]:
    """Return, for each node, the request with which a second way was seen to leave its end.

    A way is a child, or a prompt that ends there: so a place to which prompts return counts once
    the second of them has come, that one included. NEVER where none has. int64, shape (nodes,).
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
    """Return the first request whose path has each node."""
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
    """Return which positions of requests are branch points that had been seen, floored to `grid`.

    The walk is that of all positions at once, from where each prompt ends towards the root.
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
    """Return `grid.floor` of many positions."""
    positions = positions - positions % grid.granularity
    return positions - positions % grid.alignment

"""Overlaps of prompts with earlier requests, from walks over the nodes of the prefix tree."""

from __future__ import annotations

from bisect import bisect_right, insort

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

Int64 = NDArray[np.int64]


def overlaps(trace: Trace) -> Int64:
    """Return the length in tokens of each prompt's longest prefix shared with an earlier request.

    Known answers of earlier requests count too. Each walk goes from a leaf up to the first node
    seen before, so that each node is passed once.
    """
    parent, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    seen = bytearray(trace.tree.nodes)
    seen[ROOT] = 1
    shared = np.empty(len(trace), dtype=np.int64)
    for request, (leaf, end) in enumerate(zip(trace.leaf.tolist(), ends(trace), strict=True)):
        node = leaf
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
        shared[request] = stop[node]
        node = end  # the answer's tokens exist for later requests only
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
    return shared


def ends(trace: Trace) -> list[int]:
    """Return the tree node at which each request ends: its answer's if known, else its prompt's."""
    after = trace.leaf if trace.after is None else trace.after
    nodes: list[int] = np.where(after >= 0, after, trace.leaf).tolist()
    return nodes


def branch_points(trace: Trace) -> Int64:
    """Return the last branch point within each prompt's overlap, 0 if there is none.

    A branch point is a position at which earlier prompts had already diverged.
    """
    parent, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    children = [0] * trace.tree.nodes  # number of children seen so far
    seen = bytearray(trace.tree.nodes)
    seen[ROOT] = 1
    points = np.empty(len(trace), dtype=np.int64)
    for request, (leaf, end) in enumerate(zip(trace.leaf.tolist(), ends(trace), strict=True)):
        node = leaf
        while not seen[node]:
            node = parent[node]
        while node and children[node] < 2:
            node = parent[node]
        points[request] = stop[node]
        node = end
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
            children[node] += 1
    return points


def end_only_savings(trace: Trace) -> Int64:
    """Return the tokens saved of each prompt by states at the ends of earlier prompts only.

    Each end is rounded down to the granularity (tokens per block to which overlaps are known).
    """
    parent, start = trace.tree.parent.tolist(), trace.tree.start.tolist()
    known_ends: dict[int, list[int]] = {}  # ends of earlier prompts by node, ascending
    saved = np.zeros(len(trace), dtype=np.int64)
    lengths = trace.prompt_tokens.tolist()
    for request, leaf in enumerate(trace.leaf.tolist()):
        length = lengths[request]
        saved[request] = _deepest_end(known_ends, parent, leaf, length - 1)
        end = length - length % trace.granularity
        node = leaf
        while start[node] >= end > 0:
            node = parent[node]
        known = known_ends.setdefault(node, [])
        if end > 0 and end not in known:
            insort(known, end)
    return saved


def _deepest_end(ends: dict[int, list[int]], parent: list[int], node: int, limit: int) -> int:
    """Return the deepest known end, at most `limit`, on the path to `node`; 0 for none."""
    while node != ROOT:
        known = ends.get(node)
        if known:
            at = bisect_right(known, limit)
            if at:
                return known[at - 1]
        node = parent[node]
    return 0

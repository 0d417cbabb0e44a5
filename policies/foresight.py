"""What a clairvoyant policy knows of the requests to come."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from simulator.entry import Entry, KvRun
from simulator.trace import Trace

NEVER = 1 << 62


class Foresight:
    """Tells when an entry is used next: the number of the next request that passes its run.

    Which request is being served is read from the order of the cache's reports: each request
    reports its KV from the deepest run up to the root, then its states.

    Parameters
    ----------
    trace
        All requests. The cache must make its runs in the order of the trace, which it does
        unless requests are rejected.
    """

    def __init__(self, trace: Trace) -> None:
        tree = trace.tree
        nodes, requests = _passes(trace)
        order = np.lexsort((requests, nodes))
        starts = np.searchsorted(nodes[order], np.arange(tree.nodes + 1))
        self._requests = requests[order].tolist()
        self._starts: list[int] = starts.tolist()
        self._stop: list[int] = tree.stop.tolist()
        # Children in the order in which requests first pass them: a run's `ordinal`.
        first = [
            self._requests[start] if start < len(self._requests) else NEVER for start in starts
        ]
        self._children: list[list[int]] = [[] for _ in range(tree.nodes)]
        for node in sorted(range(1, tree.nodes), key=first.__getitem__):
            self._children[tree.parent[node]].append(node)
        self._node_of: dict[KvRun, int] = {}
        self._now = -1
        self._done = True

    def next_use(self, entry: Entry) -> int:
        """Return the number of the next request that passes `entry`, which is in use now."""
        if not isinstance(entry, KvRun):
            return self._pass(self._node(entry.run), self._now + 1)
        node = self._node(entry)
        if self._done:
            self._now = self._pass(node, self._now + 1)
        self._done = entry.start == 0
        return self._pass(node, self._now + 1)

    def _pass(self, node: int, request: int) -> int:
        """Return the first request from `request` on that passes `node`, or NEVER."""
        start, stop = self._starts[node], self._starts[node + 1]
        index = bisect_left(self._requests, request, start, stop)
        return self._requests[index] if index < stop else NEVER

    def _node(self, run: KvRun) -> int:
        """Return the node of the tree that `run` belongs to."""
        if run.stop == 0:
            return 0
        node = self._node_of.get(run)
        if node is None:
            siblings = self._children[self._node(run.parent)]
            node = self._node_of[run] = siblings[run.ordinal]
            if self._stop[node] != run.stop:
                raise AssertionError("the cache has made its runs in another order than the trace")
        return node


def _passes(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a pair (node, request) for each node that each request passes, the root left out."""
    parent = trace.tree.parent
    node = trace.leaf.astype(np.int64)
    request = np.arange(len(node))
    nodes, requests = [], []
    while len(node):
        nodes.append(node)
        requests.append(request)
        above = parent[node].astype(np.int64)
        inner = above > 0
        node, request = above[inner], request[inner]
    return np.concatenate(nodes or [node]), np.concatenate(requests or [request])

"""The future uses of entries, for clairvoyant policies."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from simulator.plugins.entries import Entry, KvSpan
from simulator.trace.trace import Trace

NEVER = 1 << 62


class Foresight:
    """Finds when an entry is used next: the number of the next request that passes its span.

    Parameters
    ----------
    trace
        All requests.
    """

    def __init__(self, trace: Trace) -> None:
        nodes, requests = _passes(trace)
        order = np.lexsort((requests, nodes))
        self._requests = requests[order].tolist()
        self._starts = np.searchsorted(nodes[order], np.arange(trace.tree.nodes + 1)).tolist()

    def next_use(self, entry: Entry, request: int) -> int:
        """Return the number of the next request after `request` that passes `entry`, or NEVER."""
        node = entry.node if isinstance(entry, KvSpan) else entry.span.node
        start, stop = self._starts[node], self._starts[node + 1]
        index = bisect_right(self._requests, request, start, stop)
        return self._requests[index] if index < stop else NEVER


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

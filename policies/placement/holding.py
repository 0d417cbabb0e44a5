"""Upper bound on what any policy can save with a bounded cache, and what to hold for it.

Statement
---------
Requests are served one after another, each completely before the next arrives; time is their
number. A request r resumes at position c only if, ever since the last earlier request that
passed token c, the state at c was resident (only a prefill that passes c writes it), and so was
the KV of each token p <= c since the last request that passed p. Writing age(p) for the time
since then, r therefore costs

    state_bytes age(c) + kv_bytes_per_token * sum over p <= c of age(p)     byte-requests.

What another request needs of the same token lies in another interval between two passes, so the
costs of all requests add up, and the occupancy of the cache summed over time holds them all: at
most capacity times requests. Hence, for any price per byte-request,

    saved tokens <= sum over r of max over c of (c - price cost_r(c)) + price capacity requests,

whatever places, admits and evicts; the least over all prices is the bound. It relaxes the
capacity at each time to the mean over time (the resource bound PFOO of Berger, Beckmann and
Harchol-Balter 2018, "Practical bounds on optimal caching with variable object sizes"), and lets
every pass write any state that it passes, also one before its resume point.

Between two ends of a node c and its cost grow in proportion, so only the deepest usable position
of each node matters.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from simulator.plugins.context import Sizes
from simulator.trace.grid import Grid
from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace

BISECTIONS = 48


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """The resume point that each request should have, and the bound.

    Parameters
    ----------
    resume
        int64, one a request: tokens; 0 for nothing.
    node
        int32, one a request: the node of the prefix tree in which that lies; the root for nothing.
    saved_tokens
        The sum of `resume`: their mean occupancy keeps the capacity, their peak need not.
    bound_tokens
        No policy saves more at this capacity where each request is served before the next.
    """

    resume: NDArray[np.int64]
    node: NDArray[np.int32]
    saved_tokens: int
    bound_tokens: float


def best_holding(
    trace: Trace, grid: Grid, sizes: Sizes, capacity_bytes: int | None = None
) -> Holding:
    """Return what a cache of this capacity should hold for which request, and the bound.

    Parameters
    ----------
    trace
        All requests.
    grid
        Where checkpoints may lie.
    sizes
        Bytes per token of KV and per state.
    capacity_bytes
        One budget for KV and states; None is unbounded.
    """
    return ResumeOptions.of(trace, grid, sizes).holding(capacity_bytes)


@dataclass(frozen=True, slots=True, eq=False)
class ResumeOptions:
    """Every position at which a request could resume: rows by request, ascending in position.

    They are the same at every capacity, so that many capacities take little more than one.
    """

    requests: int
    request: NDArray[np.int64]
    node: NDArray[np.int64]
    position: NDArray[np.int64]
    cost: NDArray[np.float64]
    first: NDArray[np.intp]  # the first row of each request that has one

    @classmethod
    def of(cls, trace: Trace, grid: Grid, sizes: Sizes) -> ResumeOptions:
        """Collect the options of all requests of a trace."""
        tree = trace.tree
        parent, start, stop = tree.parent.tolist(), tree.start.tolist(), tree.stop.tolist()
        passed = [-1] * tree.nodes  # the last request through each node
        rows, costs = array("q"), array("d")  # (request, node, position) of each row
        for request, leaf in enumerate(trace.leaf.tolist()):
            path = []
            node = leaf
            while node != ROOT:
                path.append(node)
                node = parent[node]
            kv_cost = 0.0
            limit = stop[leaf] - 1
            for node in reversed(path):
                last, passed[node] = passed[node], request
                if last < 0:
                    continue
                age = request - last
                position = grid.floor(min(stop[node], limit))
                if position > start[node]:
                    kv = kv_cost + sizes.kv_bytes_per_token * (position - start[node]) * age
                    rows.extend((request, node, position))
                    costs.append(kv + sizes.state_bytes * age)
                kv_cost += sizes.kv_bytes_per_token * (stop[node] - start[node]) * age
        requests, nodes, positions = np.array(rows, np.int64).reshape(-1, 3).T
        first = np.flatnonzero(np.diff(requests, prepend=-1))
        return cls(len(trace), requests, nodes, positions, np.array(costs, np.float64), first)

    def holding(self, capacity_bytes: int | None = None) -> Holding:
        """Return what a cache of this capacity should hold, and the bound; None is unbounded."""
        budget = inf if capacity_bytes is None else float(capacity_bytes) * self.requests
        taken = self.best(0.0)
        bound = float(self.position[taken].sum())
        if float(self.cost[taken].sum()) > budget:
            low, high = 0.0, 1.0 / max(float(self.cost.min()), 1.0)
            while float(self.cost[self.best(high)].sum()) > budget:
                low, high = high, 2.0 * high
            for _ in range(BISECTIONS):
                price = (low + high) / 2
                taken = self.best(price)
                used = float(self.cost[taken].sum())
                worth = float(self.position[taken].sum()) - price * used
                bound = min(bound, worth + price * budget)
                low, high = (price, high) if used > budget else (low, price)
            taken = self.best(high)
        resume, node = np.zeros(self.requests, np.int64), np.full(self.requests, ROOT, np.int32)
        resume[self.request[taken]] = self.position[taken]
        node[self.request[taken]] = self.node[taken]
        return Holding(resume, node, int(resume.sum()), bound)

    def best(self, price: float) -> NDArray[np.intp]:
        """Return the row that each request prefers, where that is better than nothing."""
        if not len(self.first):
            return np.empty(0, np.intp)
        worth = self.position - price * self.cost
        most = np.maximum.reduceat(worth, self.first)
        rows = np.diff(self.first, append=len(worth))
        index = np.where(worth >= np.repeat(most, rows), np.arange(len(worth)), -1)
        deepest: NDArray[np.intp] = np.maximum.reduceat(index, self.first)
        return deepest[most > 0.0]

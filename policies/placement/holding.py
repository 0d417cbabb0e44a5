"""Upper bound on what any policy can save with a bounded cache, and what to hold for it.

Statement
---------
Requests are served one after another; time is their number. The path of a request is its prompt
and, where the trace has it, its answer: prefill and decode write KV and states of both. A request r
resumes at a position c of its prompt, before its last token, only if, ever since the last earlier
request whose path passed token c, the state at c was resident (only a request that passes c writes
it), and so was the KV of each token p <= c since the last request that passed p. Writing age(p) for
the time since then, r therefore costs

    state_bytes age(c) + kv_bytes_per_token * sum over p <= c of age(p)     byte-requests.

What another request needs of the same token lies in another interval between two passes, so the
costs of all requests add up, and the occupancy of the cache summed over time holds them all. The
cache is looked at when a request has been computed and stores its first token: n - 1 times, as it
is empty at the first. Hence, for any price per byte-request,

    saved tokens <= sum over r of max over c of (c - price cost_r(c)) + price capacity (n - 1),

whatever places, admits and evicts; the least over all prices is the bound. Only positions count
whose state and KV fit into the capacity together. It relaxes the capacity at each time to the mean
over time (the resource bound PFOO of Berger, Beckmann and Harchol-Balter 2018, "Practical bounds on
optimal caching with variable object sizes"), and lets every pass write any state that it passes,
also one before its resume point.

It holds where requests store in the order of the trace. They may be matched earlier, as those that
a queue finds together: what a request uses stays pinned until it stores, and what it resumes from
was stored before it was matched. It holds if requests are rejected or end unserved, which then
save nothing and write nothing; with running requests that take memory; with states and KV in pools
of their own, which together have the capacity; and with compressed states or KV, by their bytes.
It does not hold for several replicas, and not for a placer whose states are free.

Between two ends of a node, c and its cost grow in proportion, so only the deepest and the
shallowest usable position of each node matter. If the token before a node is a usable position
itself, the shallowest is never the best: either the deepest is better, or that one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
        No policy saves more at this capacity where requests store in the order of the trace.
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

    Parameters
    ----------
    requests
        The number of requests.
    grid, sizes
        As `best_holding` takes them.
    request, node, position
        int64, one a row: the request, the node of the prefix tree, and the position in tokens.
    start
        int64: the token at which the node starts.
    age
        int64: requests since the last one that passed the node.
    cost
        float64: byte-requests.
    """

    requests: int
    grid: Grid
    sizes: Sizes
    request: NDArray[np.int64]
    node: NDArray[np.int64]
    position: NDArray[np.int64]
    start: NDArray[np.int64]
    age: NDArray[np.int64]
    cost: NDArray[np.float64]

    @classmethod
    def of(cls, trace: Trace, grid: Grid, sizes: Sizes) -> ResumeOptions:
        """Collect the options of all requests of a trace."""
        tree = trace.tree
        start, stop = tree.start.tolist(), tree.stop.tolist()
        usable = [(grid.first_after(first), grid.deepest(first) == first) for first in start]
        passed = [-1] * tree.nodes  # the last request through each node
        kv_bytes, state_bytes = sizes.kv_bytes_per_token, sizes.state_bytes
        rows, costs = array("q"), array("d")
        for request, (prompt, answer) in enumerate(paths(trace)):
            kv_cost = 0.0
            limit = stop[prompt[-1]] - 1
            for node in prompt:
                last, passed[node] = passed[node], request
                if last < 0:
                    continue
                age, above = request - last, start[node]
                deepest = grid.deepest(min(stop[node], limit))
                shallowest, above_is_usable = usable[node]
                for position in (deepest,) if above_is_usable else (shallowest, deepest):
                    if above < position <= deepest:
                        rows.extend((request, node, position, above, age))
                        kv = kv_cost + kv_bytes * (position - above) * age
                        costs.append(kv + state_bytes * age)
                kv_cost += kv_bytes * (stop[node] - above) * age
            for node in answer:
                passed[node] = request
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        requests, nodes, positions, starts, ages = columns
        cost = np.array(costs, np.float64)
        return cls(len(trace), grid, sizes, requests, nodes, positions, starts, ages, cost)

    def holding(self, capacity_bytes: int | None = None) -> Holding:
        """Return what a cache of this capacity should hold, and the bound; None is unbounded."""
        if capacity_bytes is None:
            return self._cheapest(inf)
        budget = float(capacity_bytes) * max(self.requests - 1, 0)
        return self.within(capacity_bytes)._cheapest(budget)

    def _cheapest(self, budget: float) -> Holding:
        """Return the best holding of at most `budget` byte-requests in all, and the bound."""
        first = np.flatnonzero(np.diff(self.request, prepend=-1))
        taken = self._best(first, 0.0)
        bound = float(self.position[taken].sum())
        if float(self.cost[taken].sum()) > budget:
            low, high = 0.0, 1.0 / max(float(self.cost.min()), 1.0)
            while float(self.cost[self._best(first, high)].sum()) > budget:
                low, high = high, 2.0 * high
            for _ in range(BISECTIONS):
                price = (low + high) / 2
                taken = self._best(first, price)
                used = float(self.cost[taken].sum())
                worth = float(self.position[taken].sum()) - price * used
                bound = min(bound, worth + price * budget)
                low, high = (price, high) if used > budget else (low, price)
            taken = self._best(first, high)
        resume, node = np.zeros(self.requests, np.int64), np.full(self.requests, ROOT, np.int32)
        resume[self.request[taken]] = self.position[taken]
        node[self.request[taken]] = self.node[taken]
        return Holding(resume, node, int(resume.sum()), bound)

    def within(self, capacity_bytes: int) -> ResumeOptions:
        """Return the options whose state and KV fit into the capacity, shortened where need be."""
        kv_bytes = self.sizes.kv_bytes_per_token
        room = capacity_bytes - self.sizes.state_bytes
        deepest = int(self.position.max(initial=0))
        if kv_bytes and room >= 0:
            deepest = self.grid.deepest(min(deepest, room // kv_bytes))
        position = np.minimum(self.position, deepest if room >= 0 else 0)
        cost = self.cost - float(kv_bytes) * (self.position - position) * self.age
        kept = position > self.start
        return replace(
            self,
            request=self.request[kept],
            node=self.node[kept],
            position=position[kept],
            start=self.start[kept],
            age=self.age[kept],
            cost=cost[kept],
        )

    def _best(self, first: NDArray[np.intp], price: float) -> NDArray[np.intp]:
        """Return the row that each request prefers, where that is better than nothing.

        `first` has the first row of each request that has one.
        """
        if not len(first):
            return np.empty(0, np.intp)
        worth = self.position - price * self.cost
        most = np.maximum.reduceat(worth, first)
        rows = np.diff(first, append=len(worth))
        index = np.where(worth >= np.repeat(most, rows), np.arange(len(worth)), -1)
        deepest: NDArray[np.intp] = np.maximum.reduceat(index, first)
        return deepest[most > 0.0]


def paths(trace: Trace) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the nodes of each prompt, from the root, and those of its answer, deepest first."""
    parent = trace.tree.parent.tolist()
    leaves = trace.leaf.tolist()
    ends = leaves if trace.after is None else trace.after.tolist()
    for leaf, end in zip(leaves, ends, strict=True):
        answer, node = [], end if end >= 0 else leaf
        while node != leaf:
            answer.append(node)
            node = parent[node]
        prompt = []
        while node != ROOT:
            prompt.append(node)
            node = parent[node]
        yield prompt[::-1], answer

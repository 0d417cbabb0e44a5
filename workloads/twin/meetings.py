"""How each prompt of a trace overlaps earlier ones, which a twin has to reproduce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT
from simulator.trace.trace import Trace
from workloads.stack_distance import RecencyTree

Int64 = NDArray[np.int64]

COLD, END, OLD_END, BRANCH, INSIDE = range(5)
Meeting = Literal["cold", "end", "old end", "branch", "inside"]
MEETINGS: tuple[Meeting, ...] = ("cold", "end", "old end", "branch", "inside")


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """Overlaps as columns, one row for each request; all but the first two in tokens.

    The *place* of a request is the position in the prefix tree where its overlap ends; its *source*
    is the last request that used that prefix.

    Parameters
    ----------
    meeting
        Index into `MEETINGS`, the kind of place: no overlap; the end of the source (or of its
        answer); the end of an earlier prompt; a branch point of earlier prompts; none of these.
    source
        Number of the source, -1 for none.
    distance
        Distinct tokens used since the source: the LRU stack distance of the place.
    depth
        Length of the overlap.
    own
        Length of the overlap's last part, which no request after the source has used.
    fresh
        Length of the overlap's last part that only one earlier request has used.
    beyond
        Tokens of the source after the overlap, where the place is inside a run; else 0.
    new
        Length of the prompt after the overlap.
    """

    meeting: Int64
    source: Int64
    distance: Int64
    depth: Int64
    own: Int64
    fresh: Int64
    beyond: Int64
    new: Int64


def meetings(trace: Trace) -> Meetings:
    """Return the overlaps of all requests, from one walk over each path."""
    walk = _Walk(trace)
    ends = trace.leaf if trace.after is None else np.where(trace.after < 0, trace.leaf, trace.after)
    rows = np.array(
        [
            walk.step(request, leaf, end)
            for request, (leaf, end) in enumerate(
                zip(trace.leaf.tolist(), ends.tolist(), strict=True)
            )
        ],
        dtype=np.int64,
    ).reshape(-1, 8)
    return Meetings(*np.ascontiguousarray(rows.T))


class _Walk:
    """The state of a walk over the requests: which nodes were used, when and by whom."""

    def __init__(self, trace: Trace) -> None:
        tree, nodes = trace.tree, trace.tree.nodes
        self._granularity = trace.granularity
        self._parent: list[int] = tree.parent.tolist()
        self._start: list[int] = tree.start.tolist()
        self._stop: list[int] = tree.stop.tolist()
        self._owner = [-1] * nodes  # the last request that used it, -1 for none
        self._passed = [0] * nodes
        self._children = [0] * nodes  # number of children used so far
        self._child = [ROOT] * nodes  # the child that was used for the first time most recently
        self._ended = [False] * nodes
        self._end: list[int] = []  # the node at which each request ends
        self._recency = RecencyTree(len(trace))

    def step(self, request: int, leaf: int, end: int) -> tuple[int, ...]:
        """Return a row of `Meetings` for a request, then register its use of the path."""
        node = leaf
        while node != ROOT and not self._passed[node]:
            node = self._parent[node]
        row = self._row(node, self._stop[leaf])
        self._pass(request, end)
        self._mark(leaf)
        self._mark(end)
        self._end.append(end)
        return row

    def _row(self, node: int, prompt_tokens: int) -> tuple[int, ...]:
        depth = self._stop[node]
        if node == ROOT:
            return COLD, -1, 0, 0, 0, 0, 0, prompt_tokens
        source = self._owner[node]
        reach = self._floor(self._stop[self._end[source]])
        meeting = self._meeting(node, reach)
        beyond = reach - depth if meeting == INSIDE else 0
        fresh = self._fresh(node, meeting)
        distance = self._recency.since(source)
        own = depth - self._exposed(node)
        return meeting, source, distance, depth, own, fresh, beyond, prompt_tokens - depth

    def _meeting(self, node: int, reach: int) -> int:
        if self._stop[node] >= reach:
            return END
        if self._ended[node]:
            return OLD_END
        return BRANCH if self._children[node] > 1 else INSIDE

    def _exposed(self, node: int) -> int:
        """Return the start of the stretch of the path that the node's last user has used last."""
        source = self._owner[node]
        while self._owner[node] == source:
            node = self._parent[node]
        return self._stop[node]

    def _fresh(self, node: int, meeting: int) -> int:
        below = self._child[node] if meeting == INSIDE else node
        if self._passed[below] > 1:
            return 0
        above = node
        while self._passed[above] == 1:
            above = self._parent[above]
        return self._stop[node] - self._stop[above]

    def _pass(self, request: int, end: int) -> None:
        node, parent, owners, passed = end, self._parent, self._owner, self._passed
        while node != ROOT:
            owner, bottom = owners[node], self._stop[node]
            while node != ROOT and owners[node] == owner:
                owners[node] = request
                passed[node] += 1
                if owner < 0:
                    self._children[parent[node]] += 1
                    self._child[parent[node]] = node
                node = parent[node]
            if owner >= 0:
                self._recency.add(owner, self._stop[node] - bottom)
        self._recency.add(request, self._stop[end])

    def _mark(self, node: int) -> None:
        """Register that a prompt or answer ends at `node`, rounded down to the granularity."""
        position = self._floor(self._stop[node])
        while self._start[node] >= position > 0:
            node = self._parent[node]
        if self._stop[node] == position:
            self._ended[node] = True

    def _floor(self, position: int) -> int:
        return position - position % self._granularity

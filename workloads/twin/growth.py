"""A prefix tree that grows prompt by prompt, with the last request that used each part."""

from __future__ import annotations

import numpy as np

from simulator.trace.prefix_tree import ROOT, PrefixTree
from workloads.stack_distance import RecencyTree


class GrowingPrompts:
    """The prompts of a twin (a synthetic copy of a trace) so far, as a prefix tree.

    The tokens last used by one request are always a single stretch of its path, `(exposed, end]`,
    since later requests use the path from the root on. The *reach* of a request is its end, rounded
    down to the granularity (tokens per block to which overlaps are known).

    Parameters
    ----------
    requests
        Number of requests.
    granularity
        Tokens per block.
    """

    def __init__(self, requests: int, granularity: int) -> None:
        self.granularity = granularity
        self.parent, self.start, self.stop = [-1], [0], [0]
        self.owner = [-1]  # the last request that used a node
        self.children = [0]
        self.ended = [False]  # whether a prompt, rounded down, ends at its stop
        self._first = [0]  # the first request that used it
        self.session: list[int] = []
        self.leaf: list[int] = []
        self.after: list[int] = []  # the nodes at which prompt and answer end
        self.overlap: list[int] = []
        self.end: list[int] = []
        self.reach: list[int] = []
        self.exposed: list[int] = []
        self.recency = RecencyTree(requests)

    def node_at(self, request: int, position: int) -> int:
        """Return the node on a request's path that stops at `position`, splitting one if needed."""
        node = self.after[request]
        while self.start[node] >= position:
            node = self.parent[node]
        return node if self.stop[node] == position else self._split(node, position)

    def _split(self, node: int, position: int) -> int:
        upper = len(self.parent)
        self.parent.append(self.parent[node])
        self.start.append(self.start[node])
        self.stop.append(position)
        self.owner.append(self.owner[node])
        self.children.append(1)
        self.ended.append(False)
        self._first.append(self._first[node])
        self.parent[node], self.start[node] = upper, position
        return upper

    def add(self, node: int, new_tokens: int, answer_tokens: int, session: int) -> None:
        """Add a request whose prompt continues after `node`; 0 answer tokens if unknown."""
        self.session.append(session)
        request = len(self.leaf)
        self.overlap.append(self.stop[node])
        leaf = self._below(node, new_tokens, request)
        after = self._below(leaf, answer_tokens, request)
        end = self.stop[after]
        self.leaf.append(leaf)
        self.after.append(after)
        self.end.append(end)
        self.reach.append(end - end % self.granularity)
        self.exposed.append(0)
        self._pass(request, after)

    def _below(self, node: int, tokens: int, request: int) -> int:
        if not tokens:
            return node
        self.children[node] += 1
        self.parent.append(node)
        self.start.append(self.stop[node])
        self.stop.append(self.stop[node] + tokens)
        self.owner.append(-1)
        self.children.append(0)
        self.ended.append(False)
        self._first.append(request)
        return len(self.parent) - 1

    def _pass(self, request: int, node: int) -> None:
        self.recency.add(request, self.stop[node])
        parent, owners = self.parent, self.owner
        while node != ROOT:
            owner, bottom = owners[node], self.stop[node]
            while node != ROOT and owners[node] == owner:
                owners[node] = request
                node = parent[node]
            if owner >= 0:
                self.recency.add(owner, self.stop[node] - bottom)
                self.exposed[owner] = bottom

    def tree(self) -> tuple[PrefixTree, np.ndarray]:
        """Return the tree, with nodes in order of appearance, and their new numbers (int32)."""
        order = np.lexsort((self.start, self._first))
        order = np.concatenate([[ROOT], order[order != ROOT]])
        renamed = np.empty(len(order), dtype=np.int32)
        renamed[order] = np.arange(len(order))
        parent = np.array(self.parent)[order]
        tree = PrefixTree(
            parent=np.where(parent < 0, -1, renamed[parent]).astype(np.int32),
            start=np.array(self.start, dtype=np.int64)[order],
            stop=np.array(self.stop, dtype=np.int64)[order],
        )
        return tree, renamed

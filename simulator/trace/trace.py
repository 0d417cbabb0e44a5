"""A trace: request columns and the prefix tree of their prompts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import PrefixTree

NO_SESSION = -1
NO_LABEL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Requests in order of arrival, as columns of equal length.

    Parameters
    ----------
    name
        Name shown in reports.
    tree
        The prefix tree of the prompts.
    leaf
        int32: the prefix-tree node at which each prompt ends.
    arrival_seconds
        float64, ascending and non-negative; None if the source has no times.
    output_tokens
        int64: length of each answer; 0 if unknown.
    session
        int32: index of the conversation; -1 if unknown.
    label
        int32: index into `labels`; -1 if unknown.
    labels
        Names of the labels, such as kinds of traffic.
    granularity
        Block size in tokens. Shared prefixes are known to this precision; they end inside a block
        only where a prompt ends.
    after
        int32: the node at which prompt plus answer end, -1 if the answer is unknown; None if no
        answer is known.
    notes
        Remarks of the importer for the reader (lines skipped, rows sorted, ...).
    """

    name: str
    tree: PrefixTree
    leaf: NDArray[np.int32]
    arrival_seconds: NDArray[np.float64] | None
    output_tokens: NDArray[np.int64]
    session: NDArray[np.int32]
    label: NDArray[np.int32]
    labels: tuple[str, ...] = ()
    granularity: int = 1
    after: NDArray[np.int32] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.leaf)

    @property
    def prompt_tokens(self) -> NDArray[np.int64]:
        """Length of each prompt in tokens, int64."""
        return self.tree.stop[self.leaf]

    def with_arrivals(self, arrival_seconds: NDArray[np.float64]) -> Trace:
        """Return the same requests with other arrival times (float64, ascending, in seconds)."""
        return replace(self, arrival_seconds=arrival_seconds)

    def problem(self) -> str | None:
        """Return a description of the first violated invariant, or None if the trace is valid."""
        columns = (self.output_tokens, self.session, self.label)
        if any(len(column) != len(self.leaf) for column in columns):
            return "the request columns differ in length"
        if len(self.leaf) and not (self.leaf.min() >= 1 and self.leaf.max() < self.tree.nodes):
            return "a request ends at a node that the prefix tree does not have"
        if self.granularity < 1:
            return f"granularity {self.granularity} is below 1"
        return self.tree.problem() or self._time_problem() or self._after_problem()

    def _time_problem(self) -> str | None:
        """Return what is wrong with the arrival times, or None."""
        times = self.arrival_seconds
        if times is None:
            return None
        if len(times) != len(self.leaf):
            return "the request columns differ in length"
        if not np.isfinite(times).all() or (times < 0).any() or (np.diff(times) < 0).any():
            return "arrival times are not finite, non-negative and ascending"
        return None

    def _after_problem(self) -> str | None:
        """Return what is wrong with the ends of the answers, or None."""
        if self.after is None:
            return None
        if len(self.after) != len(self.leaf):
            return "the request columns differ in length"
        known = self.after >= 0
        node, leaf = self.after[known], self.leaf[known]
        if len(node) and node.max() >= self.tree.nodes:
            return "an answer ends at a node that the prefix tree does not have"
        while (deeper := self.tree.start[node] >= self.tree.stop[leaf]).any():
            node = np.where(deeper, self.tree.parent[node], node)
        return None if (node == leaf).all() else "an answer does not continue its prompt"

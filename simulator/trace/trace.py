"""A trace: request columns over an interned prefix tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import PrefixTree

NO_SESSION = -1
NO_LABEL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Requests in order of arrival, as columns of one length.

    Parameters
    ----------
    name
        What the trace is called in reports.
    tree
        The prompts.
    leaf
        int32: the node at which each prompt ends.
    arrival_seconds
        float64, ascending, from 0; None where the source tells no times.
    output_tokens
        int64; 0 where unknown.
    session
        int32: requests of one number belong to one conversation; -1 where unknown.
    label
        int32: index into `labels`; -1 where unknown.
    labels
        The names of the labels.
    granularity
        Tokens a block: overlaps are exact to this, and none ends inside a block except where
        a prompt does.
    after
        int32: the node at which each prompt and its answer end, -1 where the answer is unknown;
        None where no answer is known.
    notes
        What the importer wants a reader to know (lines skipped, rows sorted, ...).
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
        """Tokens of each prompt, int64: a prompt ends where its leaf does."""
        return self.tree.stop[self.leaf]

    def with_arrivals(self, arrival_seconds: NDArray[np.float64]) -> Trace:
        """Return the same requests at other times (float64, ascending, one a request)."""
        return replace(self, arrival_seconds=arrival_seconds)

    def problem(self) -> str | None:
        """Say what breaks the rules above, or return None when they hold."""
        columns = (self.output_tokens, self.session, self.label)
        if any(len(column) != len(self.leaf) for column in columns):
            return "the request columns differ in length"
        if len(self.leaf) and not (self.leaf.min() >= 1 and self.leaf.max() < self.tree.nodes):
            return "a request ends at a node that the prefix tree does not have"
        if self.granularity < 1:
            return f"granularity {self.granularity} is below 1"
        return self.tree.problem() or self._time_problem() or self._after_problem()

    def _time_problem(self) -> str | None:
        times = self.arrival_seconds
        if times is None:
            return None
        if len(times) != len(self.leaf):
            return "the request columns differ in length"
        if not np.isfinite(times).all() or (times < 0).any() or (np.diff(times) < 0).any():
            return "arrival times are not finite, non-negative and ascending"
        return None

    def _after_problem(self) -> str | None:
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

"""A subset of the requests of a trace as a trace of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simulator.trace.prefix_tree import ROOT, PrefixTree
from simulator.trace.trace import NO_LABEL, Trace
from workloads.prefixes.prompt_tree import numbered

Int64 = NDArray[np.int64]

TIME_DECIMALS = 9  # rounding removes digits that subtraction adds to times


def kept(trace: Trace, chosen: Int64, *notes: str) -> Trace:
    """Return the requests `chosen` (ascending numbers, at least one) as a trace.

    Nodes of its prefix tree end only where these prompts and answers diverge or end. Times begin at
    0. Sessions keep their numbers and labels their names; unused ones are dropped.
    """
    leaf = trace.leaf[chosen]
    after = None if trace.after is None else trace.after[chosen]
    if after is not None and not (after >= 0).any():
        after = None
    tree, numbers = _tree_of(trace.tree, leaf, after)
    label, labels = _labels(trace, chosen)
    return replace(
        trace,
        tree=tree,
        leaf=numbers[leaf],
        arrival_seconds=None if trace.arrival_seconds is None else _times(trace, chosen),
        output_tokens=trace.output_tokens[chosen],
        session=trace.session[chosen],
        label=label,
        labels=labels,
        after=None if after is None else np.where(after >= 0, numbers[after], np.int32(-1)),
        notes=(*trace.notes, *notes),
    )


def _times(trace: Trace, chosen: Int64) -> NDArray[np.float64]:
    assert trace.arrival_seconds is not None
    times = trace.arrival_seconds[chosen]
    return np.round(times - times[0], TIME_DECIMALS) if times[0] else times


def _labels(trace: Trace, chosen: Int64) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    label = trace.label[chosen]
    used = np.unique(label[label != NO_LABEL])
    renamed = np.searchsorted(used, label).astype(np.int32)
    names = tuple(trace.labels[each] for each in used.tolist())
    return np.where(label == NO_LABEL, np.int32(NO_LABEL), renamed), names


def _tree_of(
    tree: PrefixTree, leaf: NDArray[np.int32], after: NDArray[np.int32] | None
) -> tuple[PrefixTree, NDArray[np.int32]]:
    """Return the prefix tree of some prompts and answers, and the new numbers of its nodes."""
    ends = leaf
    if after is not None:
        ends = np.stack([leaf, np.where(after >= 0, after, leaf)], axis=1).ravel()
    above = _joined(tree, ends)
    return numbered(above.tolist(), tree.stop.tolist(), ends.tolist())


def _joined(tree: PrefixTree, ends: NDArray[np.int32]) -> Int64:
    """Return the parent of each node after merging nodes at which nothing diverges or ends."""
    above = tree.parent.astype(np.int64)
    above[ROOT] = ROOT
    used = _used(above, ends)
    stays = np.bincount(above[1:][used[1:]], minlength=tree.nodes) != 1
    stays[ends] = True
    stays[ROOT] = True
    while not stays[above].all():  # pointer jumping: each round doubles the distance
        above = np.where(stays[above], above, above[above])
    return above


def _used(above: Int64, ends: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which nodes are on the path to one of `ends`."""
    used = np.zeros(len(above), dtype=np.bool_)
    used[ends] = True
    reached, parent = bytearray(used), above.tolist()
    for node in range(len(parent) - 1, 0, -1):  # children have higher numbers than their parents
        if reached[node]:
            reached[parent[node]] = 1
    return np.frombuffer(reached, dtype=np.bool_)

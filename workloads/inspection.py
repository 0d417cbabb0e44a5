"""What a trace holds, and how much of it a cache could save at best."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.prefix_tree import ROOT
from simulator.trace import NO_LABEL, NO_SESSION, Trace

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Mean and quantiles of whole numbers, in tokens."""

    mean: float
    p50: float
    p90: float
    p99: float
    max: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """Figures of a trace; shares are of all prompt tokens.

    Parameters
    ----------
    span_seconds, distinct_arrivals
        None where the trace tells no times.
    prompt_length, output_length, overlap
        Per request. An overlap is what a prompt shares with the best match before it.
    distinct_depths
        Different overlaps above 0.
    ideal_saved_tokens
        Saved by an unbounded cache with a state everywhere, when each request is served before
        the next arrives: the sum of min(overlap, prompt length - 1).
    end_only_saved_tokens
        The same with states only at the ends of earlier prompts, floored to the granularity.
    sessions
        Different sessions; None where no request has one.
    labels
        Requests by label.
    """

    name: str
    requests: int
    span_seconds: float | None
    distinct_arrivals: int | None
    prompt_tokens: int
    output_tokens: int
    prompt_length: Quantiles
    output_length: Quantiles
    overlap: Quantiles
    distinct_depths: int
    ideal_saved_tokens: int
    ideal_token_hit_rate: float
    end_only_saved_tokens: int
    end_only_token_hit_rate: float
    granularity: int
    nodes: int
    sessions: int | None
    labels: dict[str, int]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"notes": list(self.notes)}


def inspect(trace: Trace) -> Inspection:
    """Inspect a trace that holds at least one request."""
    lengths = trace.prompt_tokens
    total = int(lengths.sum())
    overlap = overlaps(trace)
    ideal = int(np.minimum(overlap, lengths - 1).sum())
    end_only = int(end_only_savings(trace).sum())
    times = trace.arrival_seconds
    return Inspection(
        name=trace.name,
        requests=len(trace),
        span_seconds=None if times is None else float(times[-1] - times[0]),
        distinct_arrivals=None if times is None else len(np.unique(times)),
        prompt_tokens=total,
        output_tokens=int(trace.output_tokens.sum()),
        prompt_length=_quantiles(lengths),
        output_length=_quantiles(trace.output_tokens),
        overlap=_quantiles(overlap),
        distinct_depths=len(np.unique(overlap[overlap > 0])),
        ideal_saved_tokens=ideal,
        ideal_token_hit_rate=ideal / total,
        end_only_saved_tokens=end_only,
        end_only_token_hit_rate=end_only / total,
        granularity=trace.granularity,
        nodes=trace.tree.nodes,
        sessions=len(np.unique(trace.session[trace.session != NO_SESSION])) or None,
        labels=_label_counts(trace),
        notes=trace.notes,
    )


def overlaps(trace: Trace) -> Int64:
    """Return the tokens that each prompt shares with the best match before it in the trace.

    Known answers of earlier requests count too. Walks from each leaf up to the first node seen
    before, so that each node is passed once.
    """
    parent, stop = trace.tree.parent.tolist(), trace.tree.stop.tolist()
    seen = bytearray(trace.tree.nodes)
    seen[ROOT] = 1
    found = np.empty(len(trace), dtype=np.int64)
    after = trace.leaf if trace.after is None else np.maximum(trace.after, 0)
    for request, (leaf, end) in enumerate(zip(trace.leaf.tolist(), after.tolist(), strict=True)):
        node = leaf
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
        found[request] = stop[node]
        node = end  # of the answer, which exists once the request has been served
        while not seen[node]:
            seen[node] = 1
            node = parent[node]
    return found


def end_only_savings(trace: Trace) -> Int64:
    """Return the tokens saved of each prompt by states at the ends of earlier prompts only.

    Each end is floored to the granularity, inside which nothing can be matched.
    """
    parent, start = trace.tree.parent.tolist(), trace.tree.start.tolist()
    ends: dict[int, list[int]] = {}  # by node, ascending
    saved = np.zeros(len(trace), dtype=np.int64)
    lengths = trace.prompt_tokens.tolist()
    for request, leaf in enumerate(trace.leaf.tolist()):
        length = lengths[request]
        saved[request] = _deepest_end(ends, parent, leaf, length - 1)
        end = length - length % trace.granularity
        node = leaf
        while start[node] >= end > 0:
            node = parent[node]
        known = ends.setdefault(node, [])
        if end > 0 and end not in known:
            insort(known, end)
    return saved


def _deepest_end(ends: dict[int, list[int]], parent: list[int], node: int, limit: int) -> int:
    """Return the deepest end on the path to `node` that is at most `limit`, 0 for none."""
    while node != ROOT:
        known = ends.get(node)
        if known:
            at = bisect_right(known, limit)
            if at:
                return known[at - 1]
        node = parent[node]
    return 0


def _quantiles(values: Int64) -> Quantiles:
    p50, p90, p99 = np.quantile(values, [0.5, 0.9, 0.99]).tolist()
    return Quantiles(float(values.mean()), p50, p90, p99, int(values.max()))


def _label_counts(trace: Trace) -> dict[str, int]:
    known = trace.label[trace.label != NO_LABEL]
    counts = np.bincount(known, minlength=len(trace.labels)).tolist()
    return dict(zip(trace.labels, counts, strict=True))

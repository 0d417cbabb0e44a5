"""All statistics of a trace."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simulator.trace.trace import NO_LABEL, NO_SESSION, Trace
from workloads.inspection.burstiness import Burstiness, burstiness
from workloads.inspection.clock import clock_of
from workloads.inspection.conversations import ConversationFigures, conversations
from workloads.inspection.coordinates import Sharpness, sharpness
from workloads.inspection.law import Quantiles, Survival, quantiles_of, survival
from workloads.inspection.overlaps import end_only_savings, overlaps
from workloads.inspection.popularity import Popularity, popularity
from workloads.inspection.reuse import LruCurve, Reuse, lru_curve, reuse
from workloads.inspection.timeline import Timeline, timeline
from workloads.inspection.uses import uses
from workloads.inspection.working_set import WorkingSets, working_sets


@dataclass(frozen=True, slots=True)
class Inspection:
    """Statistics of a trace; shares are of all prompt tokens unless stated otherwise.

    Parameters
    ----------
    span_seconds, distinct_arrivals
        Seconds from first to last request, and number of different times; None without times.
    prompt_length, output_length, overlap
        In tokens, per request. An overlap is the longest prefix that a prompt shares with an
        earlier request.
    distinct_depths
        Number of different overlaps above 0.
    ideal_saved_tokens
        Tokens saved by an unbounded cache with a state at every position, when each request is
        served before the next arrives: the sum of min(overlap, prompt length - 1).
    end_only_saved_tokens
        The same with states only at the ends of earlier prompts, rounded down to the granularity
        (the tokens per block to which overlaps are known).
    sessions
        Number of sessions; None if no request has one.
    labels
        Number of requests by label.
    overlap_survival
        Share of the requests whose overlap is at least each number of tokens.
    coordinates, popularity, reuse, lru, working_sets, timeline, conversations, arrivals
        See their classes; the last two are None without sessions and times, respectively.
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
    overlap_survival: Survival
    coordinates: Sharpness
    popularity: Popularity
    reuse: Reuse
    lru: LruCurve
    working_sets: WorkingSets
    timeline: Timeline
    conversations: ConversationFigures | None
    arrivals: Burstiness | None

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def inspect(trace: Trace) -> Inspection:
    """Return all statistics of a trace with at least one request."""
    lengths = trace.prompt_tokens
    total = int(lengths.sum())
    overlap = overlaps(trace)
    saved = np.minimum(overlap, lengths - 1)
    end_only = int(end_only_savings(trace).sum())
    times, clock, used = trace.arrival_seconds, clock_of(trace), uses(trace)
    return Inspection(
        name=trace.name,
        requests=len(trace),
        span_seconds=None if times is None else float(times[-1] - times[0]),
        distinct_arrivals=None if times is None else len(np.unique(times)),
        prompt_tokens=total,
        output_tokens=int(trace.output_tokens.sum()),
        prompt_length=quantiles_of(lengths),
        output_length=quantiles_of(trace.output_tokens),
        overlap=quantiles_of(overlap),
        distinct_depths=len(np.unique(overlap[overlap > 0])),
        ideal_saved_tokens=int(saved.sum()),
        ideal_token_hit_rate=int(saved.sum()) / total,
        end_only_saved_tokens=end_only,
        end_only_token_hit_rate=end_only / total,
        granularity=trace.granularity,
        nodes=trace.tree.nodes,
        sessions=len(np.unique(trace.session[trace.session != NO_SESSION])) or None,
        labels=_label_counts(trace),
        notes=trace.notes,
        overlap_survival=survival(overlap),
        coordinates=sharpness(trace, overlap),
        popularity=popularity(trace),
        reuse=reuse(trace, used),
        lru=lru_curve(trace, used),
        working_sets=working_sets(trace, clock, used),
        timeline=timeline(trace, clock, saved),
        conversations=conversations(trace),
        arrivals=None if times is None else burstiness(times),
    )


def _label_counts(trace: Trace) -> dict[str, int]:
    known = trace.label[trace.label != NO_LABEL]
    counts = np.bincount(known, minlength=len(trace.labels)).tolist()
    return dict(zip(trace.labels, counts, strict=True))

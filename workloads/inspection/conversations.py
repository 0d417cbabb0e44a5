"""Statistics of sessions: turns, gaps between them, and whether each continues the last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import NO_SESSION, Trace
from workloads.inspection.law import Quantiles, known_quantiles, quantiles_of
from workloads.inspection.overlaps import Int64


@dataclass(frozen=True, slots=True)
class ConversationFigures:
    """Statistics of the sessions of a trace.

    Parameters
    ----------
    sessions, requests
        Number of sessions, and of requests that belong to one.
    turns
        Requests per session.
    gap_seconds
        Seconds between successive requests of a session; None if there are none, or no times.
    growth_tokens
        Tokens by which a prompt is longer than the previous one in its session.
    continuing_share
        Share of these prompts that begin with all whole blocks of the previous one.
    """

    sessions: int
    requests: int
    turns: Quantiles
    gap_seconds: Quantiles | None
    growth_tokens: Quantiles | None
    continuing_share: float | None


def conversations(trace: Trace) -> ConversationFigures | None:
    """Return statistics of the sessions, None if no request belongs to one."""
    order, follows = turn_pairs(trace.session)
    if not len(order):
        return None
    before, later = order[:-1][follows], order[1:][follows]
    times, lengths = trace.arrival_seconds, trace.prompt_tokens
    turns = np.bincount(trace.session[order])
    return ConversationFigures(
        sessions=int(np.count_nonzero(turns)),
        requests=len(order),
        turns=quantiles_of(turns[turns > 0]),
        gap_seconds=None if times is None else known_quantiles(times[later] - times[before]),
        growth_tokens=known_quantiles(lengths[later] - lengths[before]),
        continuing_share=float(continues(trace, before, later).mean()) if len(later) else None,
    )


def turn_pairs(session: NDArray[np.int32]) -> tuple[Int64, NDArray[np.bool_]]:
    """Return the requests of all sessions, grouped by session, and which follow another.

    The second array is one entry shorter: entry i is whether requests i and i + 1 of the first
    array are of the same session.
    """
    order = np.argsort(session, kind="stable")
    order = order[session[order] != NO_SESSION]
    return order, np.diff(session[order]) == 0


def continues(trace: Trace, before: Int64, later: Int64) -> NDArray[np.bool_]:
    """Return for each pair whether prompt `later[i]` begins with the whole prompt `before[i]`.

    A partial last block of `before[i]` is ignored, since nothing can match it.
    """
    parent, stop = trace.tree.parent, trace.tree.stop
    one, other = trace.leaf[before].copy(), trace.leaf[later].copy()
    while (apart := one != other).any():  # walk up from the deeper node to the common ancestor
        up = apart & (stop[one] >= stop[other])
        down = apart & ~up
        one[up], other[down] = parent[one[up]], parent[other[down]]
    length = trace.prompt_tokens[before]
    covered: NDArray[np.bool_] = stop[one] >= length - length % trace.granularity
    return covered

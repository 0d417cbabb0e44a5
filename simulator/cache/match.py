"""Matching of a prompt against the cache, and attribution of every token that is not saved.

The attribution is a chain of decreasing bounds on the saved tokens of a prompt of length L,
computed when its prefill starts. Each difference is a loss with the name on the right, and the
losses sum exactly to L - resume:

    L >= overlap with any earlier prompt                        never seen
      >= A0 = min(overlap, L - 1)                                 last-token rule
      >= A1 = the same for prefixes that have been computed       in flight
      >= A2 = deepest position <= A1 whose KV was ever admitted   not admitted
      >= A3 = resident KV depth, at most L - 1                    KV evicted
      >= A4 = deepest position <= A3 ever checkpointed            not checkpointed, alignment
      >= resume = deepest checkpoint now <= A3                    state evicted

The loss A3 - A4 has two parts. "Alignment" is due only to rounding positions down to the grid of
allowed ones: it is the distance from A4 to the deepest position <= A3 that the placement policy
requested and whose rounded position was stored. The rest is "not checkpointed".

Every step continues towards the root where the previous one ended, so the whole chain takes one
walk over the part of the path that is not resident.
"""

from __future__ import annotations

from simulator.cache.request import Match
from simulator.plugins.entries import Checkpoint, KvSpan, deepest_position
from simulator.trace.grid import Grid


def match(leaf: KvSpan, request: int, grid: Grid, *, implicit: bool) -> Match:
    """Match the prompt that ends with `leaf` against the cache and attribute its losses.

    Parameters
    ----------
    leaf
        The KV span (the KV of consecutive tokens) that ends with the prompt.
    request
        Index of the request. Spans that it created itself do not count as seen before.
    grid
        Positions where checkpoints are allowed.
    implicit
        Whether a state is available at every allowed position at no cost (an upper bound).
    """
    length = leaf.stop
    limit = length - 1  # the last token always runs, since its logits are needed
    span = leaf
    while span.request == request:
        span = span.parent
    overlap = span.stop
    while span.done_end == span.start:
        span = span.parent
    done_overlap = span.done_end
    while span.kv_admitted_end == span.start:
        span = span.parent
    admitted = span.kv_admitted_end
    while span.kv_end == span.start:
        span = span.parent
    kv_depth = span.kv_end

    # Conditional expressions take a third of the time of min(), and this runs per request.
    a0 = overlap if overlap < limit else limit
    a1 = done_overlap if done_overlap < limit else limit
    a2 = admitted if admitted < limit else limit
    a3 = kv_depth if kv_depth < limit else limit
    if implicit:
        a4 = resume = a3 - a3 % grid.alignment
        checkpoint, alignment = None, a3 - a4
    else:
        checkpoint, dropped, wanted = _deepest_checkpoint(span, a3)
        resume, span = checkpoint.position, checkpoint.span
        a4 = dropped if dropped > resume else resume
        alignment = wanted - a4 if wanted > a4 >= grid.floor(wanted) else 0
    return Match(
        leaf,
        overlap,
        done_overlap,
        kv_depth,
        resume,
        checkpoint,
        span,
        length - overlap,
        overlap - a0,
        a0 - a1,
        a1 - a2,
        a2 - a3,
        a3 - a4 - alignment,
        alignment,
        a4 - resume,
    )


def _deepest_checkpoint(span: KvSpan, limit: int) -> tuple[Checkpoint, int, int]:
    """Find the deepest resident checkpoint at or before `limit`, walking up from a KV span.

    Returns
    -------
    tuple
        The checkpoint; the deepest evicted checkpoint position; and the deepest position that was
        requested and rounded down. Both are at most `limit`, and 0 if the walk met none.
    """
    dropped = wanted = 0
    while True:
        if span.dropped and not dropped:
            dropped = deepest_position(span.dropped, limit)
        if span.wanted and not wanted:
            wanted = deepest_position(span.wanted, limit)
        checkpoint = span.deepest_checkpoint(limit)
        if checkpoint is not None:
            return checkpoint, dropped, wanted
        span = span.parent

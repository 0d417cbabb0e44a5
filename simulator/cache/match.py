"""Why a prompt token was not saved: a chain of relaxations that sums exactly.

For a prompt of length L, matched when its prefill starts:

    L >= overlap with anything that ever arrived before          never seen
      >= A0 = min(that, L - 1)                                    last-token rule
      >= A1 = the same over prefixes that have been computed      in flight
      >= A2 = deepest depth <= A1 whose KV was ever admitted      not admitted
      >= A3 = KV depth now, at most L - 1                         KV evicted
      >= A4 = deepest position <= A3 where one was ever stored    not checkpointed, alignment
      >= resume                                                   state evicted

Alignment is the part of A3 - A4 that the flooring of a wanted position alone explains: up to
the deepest position not beyond A3 that a placer wanted and whose floored position was stored.

Every step walks on from where the last one ended, towards the root, so the whole chain costs
one walk over the part of the path that is not resident.
"""

from __future__ import annotations

from simulator.cache.request import Match
from simulator.plugins.entries import Checkpoint, KvSpan, deepest_position
from simulator.trace.grid import Grid


def match(leaf: KvSpan, request: int, grid: Grid, *, implicit: bool) -> Match:
    """Match the prompt that ends with `leaf` against the cache, and split what is lost.

    Parameters
    ----------
    leaf
        The span with which the prompt ends.
    request
        Its request: what this was the first to bring was not there before.
    grid
        Where checkpoints may lie.
    implicit
        Whether a state is held at every position that the model allows.
    """
    length = leaf.stop
    limit = length - 1  # the logits of the last token are needed, so it always runs again
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

    # Conditional expressions cost a third of what min() does, and this runs for every request.
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
    """Return the deepest resident checkpoint up to `limit`, from `span` upwards.

    On the way, find the deepest positions up to `limit` of one that was evicted, and of one that
    was wanted and had to be floored; 0 where there is none behind the checkpoint.
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

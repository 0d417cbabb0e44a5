"""Which resident state lies next above which."""

from __future__ import annotations

from simulator.plugins.entries import Checkpoint, KvSpan


class Lineage:
    """Knows for every checkpoint the nearest one above it, and hence the tokens it saves.

    Checkpoints below one another are grouped by their *branch*, the span through which they lie
    below: the one directly below the span of the checkpoint above, or that span itself. So one that
    comes in between looks only at those that may pass it.

    `above` gives the position next above, 0 for the start of the prompt.
    """

    def __init__(self) -> None:
        self.above: dict[Checkpoint, int] = {}
        self._places: dict[Checkpoint, tuple[Checkpoint | None, KvSpan]] = {}  # above, branch
        self._below: dict[Checkpoint | None, dict[KvSpan, dict[Checkpoint, None]]] = {}

    def add(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Take in a checkpoint; return those for which it is the nearest above now."""
        above, branch = _nearest(checkpoint)
        span, position = checkpoint.span, checkpoint.position
        same_span = above is not None and above.span is span
        if position == span.kv_end and not span.children_resident:
            moved = []
        elif same_span:  # what lay below the one above lies below this one
            moved = self._all_below(above)
        else:
            family = self._below.get(above, {}).get(branch, ())
            moved = [other for other in family if _passes(other, span, position)]
        for other in moved:
            before = self._leave(other)
            self._join(other, checkpoint, before if same_span else _branch_below(other, span))
        self._join(checkpoint, above, branch)
        return moved

    def remove(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Forget a checkpoint; return those for which it was the nearest above."""
        above = self._places[checkpoint][0]
        branch = self._leave(checkpoint)
        del self._places[checkpoint], self.above[checkpoint]
        moved = self._all_below(checkpoint)
        same_span = above is not None and above.span is checkpoint.span
        for other in moved:
            before = self._leave(other)
            self._join(other, above, before if same_span else branch)
        return moved

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Know the branches again, now that `lower` has been cut below `upper`."""
        parent = upper.parent
        above = parent.deepest_checkpoint(parent.stop) if parent.stop else None
        if above is not None or not parent.stop:
            families = self._below.get(above)
            for other in [] if families is None else [*families.get(lower, ())]:
                self._leave(other)
                self._join(other, above, upper)
        for checkpoint in upper.checkpoints:
            for other in self._all_below(checkpoint):
                self._leave(other)
                self._join(other, checkpoint, upper if other.span is upper else lower)

    def _all_below(self, checkpoint: Checkpoint | None) -> list[Checkpoint]:
        families = self._below.get(checkpoint)
        return [] if families is None else [other for f in families.values() for other in f]

    def _leave(self, checkpoint: Checkpoint) -> KvSpan:
        """Take a checkpoint out of its family, and return its branch."""
        above, branch = self._places[checkpoint]
        families = self._below[above]
        family = families[branch]
        del family[checkpoint]
        if not family:
            del families[branch]
            if not families:
                del self._below[above]
        return branch

    def _join(self, checkpoint: Checkpoint, above: Checkpoint | None, branch: KvSpan) -> None:
        families = self._below.get(above)
        if families is None:
            families = self._below[above] = {}
        family = families.get(branch)
        if family is None:
            family = families[branch] = {}
        family[checkpoint] = None
        self._places[checkpoint] = above, branch
        self.above[checkpoint] = 0 if above is None else above.position


def _nearest(checkpoint: Checkpoint) -> tuple[Checkpoint | None, KvSpan]:
    """Return the nearest checkpoint above, and the branch through which this one lies below it."""
    branch = span = checkpoint.span
    limit = checkpoint.position - 1
    while span.stop:
        above = span.deepest_checkpoint(limit) if span.checkpoints else None
        if above is not None:
            return above, branch
        branch, span = span, span.parent
    return None, branch


def _passes(checkpoint: Checkpoint, span: KvSpan, position: int) -> bool:
    """Say whether the path to `checkpoint` passes `position` of `span`."""
    if checkpoint.position <= position:
        return False
    holding = checkpoint.span
    while holding.start >= position:
        holding = holding.parent
    return holding is span


def _branch_below(checkpoint: Checkpoint, top: KvSpan) -> KvSpan:
    """Return the span of the path to `checkpoint` that lies directly below `top`, or is `top`."""
    span = checkpoint.span
    while span is not top and span.parent is not top:
        span = span.parent
    return span


def state_at(span: KvSpan, limit: int) -> int:
    """Return the deepest position up to `limit` with a resident state, from `span` upwards."""
    while span.stop:
        checkpoint = span.deepest_checkpoint(limit) if span.checkpoints else None
        if checkpoint is not None:
            return checkpoint.position
        span = span.parent
    return 0


def state_above(checkpoint: Checkpoint) -> int:
    """Return the position of the nearest resident state above `checkpoint`, 0 if none."""
    return state_at(checkpoint.span, checkpoint.position - 1)


def takes_kv(checkpoint: Checkpoint) -> bool:
    """Say whether the KV that ends with a state leaves with it.

    KV without bytes is none of the policies'.
    """
    span = checkpoint.span
    if span.children_resident or span.pins or not span.size_bytes:
        return False
    states = span.checkpoints
    return states[-1] is checkpoint if states else False

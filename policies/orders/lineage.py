"""The nearest resident state above each state."""

from __future__ import annotations

from simulator.plugins.entries import Checkpoint, KvSpan


class _Family:
    """The checkpoints whose nearest one above is `above`, on one of its branches."""

    __slots__ = ("above", "branch", "members")

    def __init__(self, above: Checkpoint | None, branch: KvSpan | None) -> None:
        self.above = above
        self.branch = branch
        self.members: dict[Checkpoint, None] = {}


class Lineage:
    """Keeps the nearest checkpoint above every checkpoint, and hence the tokens it saves.

    Checkpoints with the same one above are grouped by their *branch*: the child of that one's span
    on their path, or None in that span itself. So an insertion in between examines only those that
    may lie below it.

    `above` gives the position of the nearest one above, 0 for the start of the prompt.
    """

    def __init__(self) -> None:
        self.above: dict[Checkpoint, int] = {}
        self._families: dict[Checkpoint, _Family] = {}  # that in which each is
        self._below: dict[Checkpoint | None, dict[KvSpan | None, _Family]] = {}

    def add(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Add a checkpoint; return those for which it is now the nearest above."""
        above, branch = _nearest(checkpoint)
        span, position = checkpoint.span, checkpoint.position
        same_span = above is not None and above.span is span
        if position == span.kv_end and not span.children_resident:
            moved = []
        elif same_span:  # what lay below the one above lies below this one
            moved = self._all_below(above)
        else:
            family = self._below.get(above, {}).get(branch)
            members = () if family is None else family.members
            moved = [other for other in members if _passes(other, span, position)]
        for other in moved:
            before = self._leave(other)
            self._join(other, checkpoint, before if same_span else _branch_below(other, span))
        self._join(checkpoint, above, branch)
        return moved

    def state_above(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Return the nearest checkpoint above one of these, None if there is none."""
        return self._families[checkpoint].above

    def remove(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Forget a checkpoint; return those for which it was the nearest above."""
        above = self._families[checkpoint].above
        branch = self._leave(checkpoint)
        del self._families[checkpoint], self.above[checkpoint]
        moved = self._all_below(checkpoint)
        same_span = above is not None and above.span is checkpoint.span
        for other in moved:
            before = self._leave(other)
            self._join(other, above, before if same_span else branch)
        return moved

    def split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Update the branches after a split of a span into `upper` and `lower`."""
        parent = upper.parent
        above = parent.deepest_checkpoint(parent.stop) if parent.stop else None
        if above is not None or not parent.stop:
            families = self._below.get(above)
            family = None if families is None else families.pop(lower, None)
            if families is not None and family is not None:
                family.branch, families[upper] = upper, family
        if upper.checkpoints:
            self._merge(self._below.get(upper.checkpoints[-1]), lower)

    def _merge(self, families: dict[KvSpan | None, _Family] | None, branch: KvSpan) -> None:
        """Merge all families below a checkpoint, which now lie on one branch."""
        if families is None:
            return
        first, *others = families.values()
        for family in others:
            first.members |= family.members
            self._families |= dict.fromkeys(family.members, first)
        first.branch = branch
        families.clear()
        families[branch] = first

    def _all_below(self, checkpoint: Checkpoint | None) -> list[Checkpoint]:
        families = self._below.get(checkpoint)
        return [] if families is None else [other for f in families.values() for other in f.members]

    def _leave(self, checkpoint: Checkpoint) -> KvSpan | None:
        """Remove a checkpoint from its family, and return its branch."""
        family = self._families[checkpoint]
        del family.members[checkpoint]
        if not family.members:
            families = self._below[family.above]
            del families[family.branch]
            if not families:
                del self._below[family.above]
        return family.branch

    def _join(
        self, checkpoint: Checkpoint, above: Checkpoint | None, branch: KvSpan | None
    ) -> None:
        families = self._below.get(above)
        if families is None:
            families = self._below[above] = {}
        family = families.get(branch)
        if family is None:
            family = families[branch] = _Family(above, branch)
        family.members[checkpoint] = None
        self._families[checkpoint] = family
        self.above[checkpoint] = 0 if above is None else above.position


def _nearest(checkpoint: Checkpoint) -> tuple[Checkpoint | None, KvSpan | None]:
    """Return the nearest checkpoint above, and the branch through which this one lies below it."""
    branch, span = None, checkpoint.span
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


def _branch_below(checkpoint: Checkpoint, top: KvSpan) -> KvSpan | None:
    """Return the span right below `top` on the path to `checkpoint`, None if that is in `top`."""
    branch, span = None, checkpoint.span
    while span is not top:
        branch, span = span, span.parent
    return branch


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

    KV of no bytes does not count.
    """
    span = checkpoint.span
    if span.children_resident or span.pins or not span.size_bytes:
        return False
    states = span.checkpoints
    return states[-1] is checkpoint if states else False

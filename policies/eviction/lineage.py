"""Which resident state lies next above which."""

from __future__ import annotations

from simulator.entry import Checkpoint, KvRun


class Lineage:
    """Knows for every checkpoint the nearest one above it, and hence the tokens it saves.

    Checkpoints below one another are grouped by the run through which they lie below, so that a
    checkpoint that comes in between looks only at those that may pass it.

    `above` gives the position next above, 0 for the start of the prompt.
    """

    def __init__(self) -> None:
        self.above: dict[Checkpoint, int] = {}
        self._parent: dict[Checkpoint, Checkpoint | None] = {}
        self._families: dict[tuple[Checkpoint | None, KvRun], dict[Checkpoint, None]] = {}
        self._branches: dict[Checkpoint | None, dict[KvRun, None]] = {}

    def add(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Take in a checkpoint; return those for which it is the nearest above now."""
        parent, branch = _nearest(checkpoint)
        family = self._join(checkpoint, parent, branch)
        if len(family) == 1 or checkpoint.position == checkpoint.run.kv_end > 0 == (
            checkpoint.run.children_resident
        ):
            return []
        position, run = checkpoint.position, checkpoint.run
        moved = [
            other
            for other in family
            if other.position > position and _holding(other.run, position) is run
        ]
        for other in moved:
            del family[other]
            self._join(other, checkpoint, _branch_below(other.run, run))
        return moved

    def remove(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Forget a checkpoint; return those for which it was the nearest above."""
        parent = self._parent.pop(checkpoint)
        del self.above[checkpoint]
        branch = _branch_below(checkpoint.run, None if parent is None else parent.run)
        family = self._families[parent, branch]
        del family[checkpoint]
        moved: list[Checkpoint] = []
        for below in self._branches.pop(checkpoint, ()):
            moved += self._families.pop((checkpoint, below))
        for other in moved:
            self._join(other, parent, branch)
        if not family:
            del self._families[parent, branch]
            del self._branches[parent][branch]
        return moved

    def _join(
        self, checkpoint: Checkpoint, parent: Checkpoint | None, branch: KvRun
    ) -> dict[Checkpoint, None]:
        family = self._families.get((parent, branch))
        if family is None:
            family = self._families[parent, branch] = {}
            self._branches.setdefault(parent, {})[branch] = None
        family[checkpoint] = None
        self._parent[checkpoint] = parent
        self.above[checkpoint] = 0 if parent is None else parent.position
        return family


def _nearest(checkpoint: Checkpoint) -> tuple[Checkpoint | None, KvRun]:
    """Return the nearest checkpoint above, and the run through which this one lies below it."""
    branch = run = checkpoint.run
    limit = checkpoint.position - 1
    while run.stop:
        found = run.deepest_checkpoint(limit)
        if found is not None:
            return found, branch
        branch, run = run, run.parent
    return None, branch


def _holding(run: KvRun, position: int) -> KvRun:
    while run.start >= position:
        run = run.parent
    return run


def _branch_below(run: KvRun, top: KvRun | None) -> KvRun:
    """Return the run of the path up from `run` that lies directly below `top`, or is `top`."""
    if run is top:
        return run
    while run.parent is not top and run.parent.stop:
        run = run.parent
    return run

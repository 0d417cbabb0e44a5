"""What the past has shown of how prompts meet earlier prompts."""

from __future__ import annotations

from typing import NamedTuple

from simulator.entry import KvRun
from simulator.grid import Grid

KINDS = NEW, CONTINUED, DIVERGED = 0, 1, 2  # how a prompt meets what is known


class Segment:
    """What one request has added to the known prompts: the tokens `(start, stop]`.

    Parameters
    ----------
    start, stop
        Where it left what was known, and the length of its prompt.
    end
        Where the checkpoint at the end of its prompt would lie.
    kind
        How its prompt met what was known.
    label
        Of its request, -1 where unknown.
    """

    __slots__ = ("end", "kind", "label", "left", "returns", "start", "stop")

    def __init__(self, start: int, stop: int, end: int, kind: int, label: int) -> None:
        self.start = start
        self.stop = stop
        self.end = end
        self.kind = kind
        self.label = label
        self.returns = 0  # prompts that have continued behind its end
        self.left = False  # a prompt has diverged inside it


class Meeting(NamedTuple):
    """Where a prompt leaves what is known.

    Parameters
    ----------
    run
        The run at whose end it leaves; the root where nothing is shared.
    segment
        The segment in which that is, None for the root.
    kind
        NEW where less than half of the prompt is shared, CONTINUED at the end of an earlier
        prompt, else DIVERGED.
    """

    run: KvRun
    segment: Segment | None
    kind: int


class Sightings:
    """Remembers which request has added which runs, and how often prompts left each.

    All of it is known from requests already served, except for the run in which a new prompt
    ends; runs below the overlap are not looked at, since where those split is still to come.

    Attributes
    ----------
    grid
        Where checkpoints may lie.
    segments
        The segment in which each run lies.
    left
        How often prompts have diverged at the end of a run, inside its segment.
    """

    def __init__(self) -> None:
        self.grid = Grid()
        self.segments: dict[KvRun, Segment] = {}
        self.left: dict[KvRun, int] = {}

    def meet(self, leaf: KvRun, overlap: int) -> Meeting:
        """Find where the prompt that ends with `leaf` leaves what is known."""
        run = leaf
        while run.stop > overlap:
            run = run.parent
        segment = self.segments.get(run)
        if segment is None:
            return Meeting(run, None, NEW)
        if run.stop >= segment.end:
            return Meeting(run, segment, CONTINUED)
        return Meeting(run, segment, NEW if 2 * run.stop < leaf.stop else DIVERGED)

    def note_divergence(self, run: KvRun) -> int:
        """Count one more prompt that diverged at the end of a run; return how many did before."""
        before = self.left.get(run, 0)
        self.left[run] = before + 1
        return before

    def add(self, leaf: KvRun, overlap: int, kind: int, label: int) -> None:
        """Note that the request that ends with `leaf` has added what lies beyond its overlap."""
        segment = Segment(overlap, leaf.stop, self.grid.floor(leaf.stop), kind, label)
        segments, run = self.segments, leaf
        while run.stop > overlap:
            segments[run] = segment
            run = run.parent

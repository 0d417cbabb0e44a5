"""A record of where prompts diverged from earlier prompts or continued them."""

from __future__ import annotations

from typing import Final

from simulator.plugins.entries import KvSpan
from simulator.trace.grid import Grid

NEW: Final = 0  # how a prompt overlaps the prompts known before
CONTINUED: Final = 1
DIVERGED: Final = 2
KINDS: Final = (NEW, CONTINUED, DIVERGED)


class Segment:
    """The tokens `(start, stop]` that one request added to the known prompts.

    Parameters
    ----------
    start, stop
        Where it diverged from the known prompts, and the length of its prompt.
    end
        Where the checkpoint at the end of its prompt would lie.
    kind
        How its prompt overlapped the known prompts.
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


class Meeting:
    """The point at which a prompt leaves the known prompts.

    Parameters
    ----------
    span
        The span at whose end it leaves; the root where nothing is shared.
    segment
        The segment in which that is, None for the root.
    kind
        NEW where less than half of the prompt is shared, CONTINUED at the end of an earlier
        prompt, else DIVERGED.
    """

    __slots__ = ("kind", "segment", "span")

    def __init__(self, span: KvSpan, segment: Segment | None, kind: int) -> None:
        self.span = span
        self.segment = segment
        self.kind = kind


class Sightings:
    """Remembers the tokens that each request added, and where later prompts diverged from them.

    It knows of requests already served alone.

    Attributes
    ----------
    grid
        Where checkpoints may lie.
    left
        How often prompts have diverged at the end of a span, inside its segment.
    """

    def __init__(self) -> None:
        self.grid = Grid()
        self._segments: dict[int, Segment] = {}  # by the request that has added them
        self.left: dict[KvSpan, int] = {}

    def meet(self, leaf: KvSpan, overlap: int) -> Meeting:
        """Return the point at which the prompt that ends with `leaf` leaves the known prompts."""
        span = leaf
        while span.stop > overlap:
            span = span.parent
        segment = self.segment_of(span)
        if segment is None:
            return Meeting(span, None, NEW)
        if span.stop >= segment.end:
            return Meeting(span, segment, CONTINUED)
        return Meeting(span, segment, NEW if 2 * span.stop < leaf.stop else DIVERGED)

    def segment_of(self, span: KvSpan) -> Segment | None:
        """Return the segment in which `span` lies, None for an answer and for what is new."""
        segment = self._segments.get(span.request)
        return segment if segment is not None and span.stop <= segment.stop else None

    def note_divergence(self, span: KvSpan) -> int:
        """Count one more prompt that diverged at the end of a span; return how many did before."""
        before = self.left.get(span, 0)
        self.left[span] = before + 1
        return before

    def add(self, leaf: KvSpan, overlap: int, kind: int, label: int) -> None:
        """Record the tokens beyond the overlap as added by the request that ends with `leaf`.

        Where several compute the same tokens at once, they count for the first.
        """
        segment = Segment(overlap, leaf.stop, self.grid.floor(leaf.stop), kind, label)
        self._segments.setdefault(leaf.request, segment)

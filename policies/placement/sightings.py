"""A record of where prompts diverged from earlier requests or continued them."""

from __future__ import annotations

from typing import Final

from simulator.plugins.entries import KvSpan
from simulator.trace.grid import Grid

# How a prompt overlaps the requests known before it:
NEW: Final = 0  # by less than a half
CONTINUED: Final = 1  # it continues behind the end of a prompt
DIVERGED: Final = 2  # it diverges inside a prompt or an answer
ANSWERED: Final = 3  # it continues behind the end of an answer
REPEATED: Final = 4  # it is an earlier prompt, for the first time
REPEATED_AGAIN: Final = 5  # it is one that was repeated before
KINDS: Final = (NEW, CONTINUED, DIVERGED, ANSWERED, REPEATED, REPEATED_AGAIN)

# Where a prompt leaves the segment in which it does:
ANSWER_END: Final = 0
PROMPT_END: Final = 1
BEFORE_END: Final = 2  # one token before the end of the prompt, where a repeated prompt resumes
IN_ANSWER: Final = 3
IN_PROMPT: Final = 4
ENDS: Final = (ANSWER_END, PROMPT_END, BEFORE_END)
PARTS: Final = (IN_ANSWER, IN_PROMPT)


class Segment:
    """The tokens that one request added: `(start, stop]` by its prompt, those behind by its answer.

    Attributes
    ----------
    start, stop
        Where it diverged from what was known, and the length of its prompt.
    answer_stop
        The end of its answer, `stop` where that is unknown.
    prompt_end, answer_end
        Where the checkpoints at these ends would lie.
    before_end
        Where the deepest checkpoint would lie that a repetition of the prompt can use, if it is
        another than that at the end of the prompt; else 0.
    kind
        How its prompt overlapped the requests known before.
    label
        Of its request, -1 where unknown.
    returns
        The prompts that have returned to each of its ENDS.
    left
        By `place - IN_ANSWER`: whether a prompt has diverged inside its answer, and its prompt.
    """

    __slots__ = (
        "answer_end",
        "answer_stop",
        "before_end",
        "kind",
        "label",
        "left",
        "prompt_end",
        "returns",
        "start",
        "stop",
    )

    def __init__(self, start: int, stop: int, kind: int, label: int, grid: Grid) -> None:
        self.start = start
        self.stop = self.answer_stop = stop
        self.prompt_end = self.answer_end = end = grid.floor(stop)
        # The last token of a prompt always runs.
        self.before_end = grid.floor(stop - 1) if end == stop else 0
        self.kind = kind
        self.label = label
        self.returns = [0, 0, 0]
        self.left = [False, False]

    def bounds(self, part: int) -> tuple[int, int]:
        """Return where the tokens of one of its PARTS start and stop."""
        return (self.start, self.stop) if part == IN_PROMPT else (self.stop, self.answer_stop)

    def end_of(self, part: int) -> int:
        """Return where the checkpoint at the end of one of its PARTS would lie."""
        return self.prompt_end if part == IN_PROMPT else self.answer_end


class Meeting:
    """The point at which a prompt leaves the known requests.

    Parameters
    ----------
    span
        The span at whose end it leaves; the root where nothing is shared.
    segment
        The segment in which that is, None for the root.
    place
        Where in the segment: one of ENDS and PARTS.
    kind
        How the prompt overlaps what is known: one of KINDS.
    """

    __slots__ = ("kind", "place", "segment", "span")

    def __init__(self, span: KvSpan, segment: Segment | None, place: int, kind: int) -> None:
        self.span = span
        self.segment = segment
        self.place = place
        self.kind = kind


class Sightings:
    """Remembers the tokens that each request added, and where later prompts left them.

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
        """Return the point at which the prompt that ends with `leaf` leaves the known requests."""
        span = leaf
        while span.stop > overlap:
            span = span.parent
        segment = self.segment_of(span)
        if segment is None:
            return Meeting(span, None, IN_PROMPT, NEW)
        depth = span.stop
        if depth >= segment.prompt_end:
            usable = depth if depth < leaf.stop else depth - 1
            if depth > segment.stop:
                if usable >= segment.answer_end:
                    return Meeting(span, segment, ANSWER_END, ANSWERED)
            elif usable >= segment.prompt_end or not segment.before_end:
                return Meeting(span, segment, PROMPT_END, CONTINUED)
            else:
                again = segment.returns[BEFORE_END] > 0
                return Meeting(span, segment, BEFORE_END, REPEATED_AGAIN if again else REPEATED)
        part = IN_ANSWER if depth > segment.stop else IN_PROMPT
        return Meeting(span, segment, part, NEW if 2 * depth < leaf.stop else DIVERGED)

    def segment_of(self, span: KvSpan) -> Segment | None:
        """Return the segment in which `span` lies, None where that is not known yet."""
        segment = self._segments.get(span.request)
        return segment if segment is not None and span.stop <= segment.answer_stop else None

    def note_divergence(self, span: KvSpan) -> int:
        """Count one more prompt that diverged at the end of a span; return how many did before."""
        before = self.left.get(span, 0)
        self.left[span] = before + 1
        return before

    def add(self, leaf: KvSpan, end: KvSpan, overlap: int, kind: int, label: int) -> None:
        """Record what a request added: its prompt behind the overlap, and its answer.

        Where several compute the same tokens at once, they count for the first.

        Parameters
        ----------
        leaf, end
            The spans that end with its prompt and with its answer; one span if that is unknown.
        overlap
            Tokens of the prompt that were known.
        """
        segments, segment = self._segments, None
        if leaf.stop > overlap:
            segment = segments.get(leaf.request)
            if segment is None:
                segment = Segment(overlap, leaf.stop, kind, label, self.grid)
                segments[leaf.request] = segment
        if end.stop > leaf.stop:
            if segment is None or end.request != leaf.request:
                segment = segments.get(end.request)
            if segment is None:  # the prompt was known
                segment = Segment(leaf.stop, leaf.stop, kind, label, self.grid)
                segments[end.request] = segment
            segment.answer_stop = end.stop
            segment.answer_end = self.grid.floor(end.stop)

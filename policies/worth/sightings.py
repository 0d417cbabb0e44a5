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

# What has added a segment:
PROMPT: Final = 0
ANSWER: Final = 1

# The places of a segment to which a prompt returns:
END: Final = 0  # the prompt continues behind it
BEFORE_END: Final = 1  # the prompt ends with it, and its last token always runs
INSIDE: Final = 2  # the prompt diverges there
PLACES: Final = (END, BEFORE_END, INSIDE)

# Where a prompt leaves the known requests: the span at whose end (the root where nothing is
# shared), the segment of it (None for the root), the place in that, and the kind of overlap.
Meeting = tuple[KvSpan, "Segment | None", int, int]


class Segment:
    """The tokens `(start, stop]` that a prompt, or an answer, added to the known requests.

    Parameters
    ----------
    part
        PROMPT or ANSWER.
    start, stop
        Where it diverged from what was known, or where its prompt ended; and its end.
    kind
        How the prompt of its request overlapped the requests known before.
    label
        Of its request, -1 where unknown.
    end
        Where the checkpoint at its end would lie.

    Attributes
    ----------
    whole
        Whether that is its very end, where no repetition of it could use the checkpoint.
    returns, repeats
        The prompts that have returned to its end, and to the token before.
    left
        Whether a prompt has diverged inside it.
    """

    __slots__ = (
        "end",
        "kind",
        "label",
        "left",
        "part",
        "repeats",
        "returns",
        "start",
        "stop",
        "whole",
    )

    def __init__(self, part: int, start: int, stop: int, kind: int, label: int, end: int) -> None:
        self.part = part
        self.start = start
        self.stop = stop
        self.kind = kind
        self.label = label
        self.end = end
        self.whole = end == stop
        self.returns = self.repeats = 0
        self.left = False


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
        # By the request that has added them.
        self._prompts: dict[int, Segment] = {}
        self._answers: dict[int, Segment] = {}
        self.left: dict[KvSpan, int] = {}

    def meet(self, leaf: KvSpan, overlap: int) -> Meeting:
        """Return the point at which the prompt that ends with `leaf` leaves the known requests."""
        span = leaf
        while span.stop > overlap:
            span = span.parent
        depth, request = span.stop, span.request
        segment = self._prompts.get(request)
        if segment is None or depth > segment.stop:  # as `segment_of`, without a call
            segment = self._answers.get(request)
            if segment is None:
                return span, None, INSIDE, NEW
        if depth < segment.end:
            return span, segment, INSIDE, NEW if 2 * depth < leaf.stop else DIVERGED
        if segment.whole and depth == leaf.stop:
            again = segment.repeats > 0
            return span, segment, BEFORE_END, REPEATED_AGAIN if again else REPEATED
        return span, segment, END, ANSWERED if segment.part == ANSWER else CONTINUED

    def segment_of(self, span: KvSpan) -> Segment | None:
        """Return the segment in which `span` lies, None where that is not known yet."""
        segment = self._prompts.get(span.request)
        if segment is None or span.stop > segment.stop:
            return self._answers.get(span.request)
        return segment

    def add_prompt(self, leaf: KvSpan, overlap: int, kind: int, label: int) -> None:
        """Record the tokens behind the overlap as added by the prompt that ends with `leaf`.

        Where several compute the same tokens at once, they count for the first.
        """
        request, stop = leaf.request, leaf.stop
        if request not in self._prompts:
            self._prompts[request] = Segment(
                PROMPT, overlap, stop, kind, label, self.grid.floor(stop)
            )

    def add_answer(self, end: KvSpan, start: int, kind: int, label: int) -> None:
        """Record the tokens from `start` on as added by the answer that ends with `end`."""
        request, stop = end.request, end.stop
        if request not in self._answers:
            self._answers[request] = Segment(
                ANSWER, start, stop, kind, label, self.grid.floor(stop)
            )

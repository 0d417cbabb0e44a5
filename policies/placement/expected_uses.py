"""The points to which prompts may return, each with the uses to expect of it, as learned."""

from __future__ import annotations

from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRates
from policies.placement.places import MOST, PlaceRates, Point
from policies.worth.sightings import (
    ANSWER,
    BEFORE_END,
    END,
    INSIDE,
    PROMPT,
    Meeting,
    Segment,
    Sightings,
)
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Prefix
from simulator.trace.grid import Grid

REFRESH: Final = 32  # requests after which the expected further uses are computed anew


class ExpectedUses:
    """Learns how often prompts return to each kind of place, and expects uses of points by it.

    The places are, of what a prompt has added and of what its answer has: its end, the token
    before (where a repetition resumes), and where a prompt first diverges inside it. Finer
    places than ends are expected once a prompt has returned to one.
    """

    def __init__(self) -> None:
        self.sightings = Sightings()
        self._reach = 0
        self._requests = 0
        self._rates = ReuseRates()
        self._prompts = PlaceRates(self._rates, tries_inside=True)
        self._answers = PlaceRates(self._rates, tries_inside=False)
        self._met: dict[int, Meeting] = {}  # by request, until it ends

    def begin(self, grid: Grid, reach_tokens: int) -> None:
        """Take the grid of positions, and the deepest one whose state the cache can hold."""
        self.sightings.grid = grid
        self._reach = reach_tokens

    def law(self, label: int) -> DivergenceLaw:
        """Return the law of where prompts first diverge inside prompts of a label."""
        return self._prompts.law(label)

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Count where a prompt left the known requests, and the places that the request added."""
        self._rates.tick()
        leaf, depth, label = overlap.span, overlap.depth, overlap.label
        if leaf is not None:
            meeting = self._met.pop(overlap.request, None) or self.sightings.meet(leaf, depth)
            span, segment, place, kind = meeting
            if segment is not None:
                self._count_use(span, segment, place, overlap)
            if leaf.stop > depth:
                self._prompts.first[kind].trial(label)
                self.sightings.add_prompt(leaf, depth, kind, label)
            end = overlap.end
            if end is not None and end.stop > leaf.stop:
                self._answers.first[kind].trial(label)
                self.sightings.add_answer(end, leaf.stop, kind, label)
        self._requests += 1
        if self._requests % REFRESH == 0:
            for returns in self._prompts.returns + self._answers.returns:
                returns.refresh()

    def _count_use(self, span: KvSpan, segment: Segment, place: int, overlap: Overlap) -> None:
        """Count a use of the place where a prompt left the known requests, at the end of `span`."""
        depth, resident = overlap.depth, overlap.kv_depth
        useful = (
            resident >= depth  # mostly
            or resident < 0
            or resident >= min(depth, overlap.prompt_tokens - 1, self._reach)
            # Where no state was ever stored, nothing kept its KV from being the first to leave.
            or not (span.dropped or span.checkpoints)
        )
        places = self._prompts if segment.part == PROMPT else self._answers
        if place != INSIDE:
            places.use_end(segment, place, useful)
        else:
            left = self.sightings.left
            before = left.get(span, 0)
            left[span] = before + 1
            places.use_inside(segment, depth, before, useful)

    # --- expecting --------------------------------------------------------------------------

    def points(self, prefix: Prefix, resume: int, price: float) -> list[Point]:
        """Return the points of a prompt and its answer behind a position, the deepest first.

        Parameters
        ----------
        prefix
            The prompt, and where its answer ends.
        resume
            The position, in tokens.
        price
            Tokens that a point must save to be of interest.
        """
        overlap, length = prefix.overlap, prefix.prompt_tokens
        meeting = self.sightings.meet(prefix.span, overlap)
        if prefix.request >= 0:
            self._met[prefix.request] = meeting
        kind, label, end = meeting[3], prefix.label, prefix.end_tokens
        points: list[Point] = []
        if end > length:
            self._answers.add_new(points, kind, label, length, end, price / (end - resume))
        if length > overlap:
            self._prompts.add_new(points, kind, label, overlap, length, price / (length - resume))
        if overlap > resume:
            self._add_known(points, resume, meeting)
        return points

    def _add_known(self, points: list[Point], resume: int, meeting: Meeting) -> None:
        """Add the known points between resume point and overlap, with this prompt's return."""
        segment_of, left_at = self.sightings.segment_of, self.sightings.left
        span, _, place, _ = meeting
        below: Segment | None = None
        left = int(place == INSIDE)  # by this prompt
        while span.stop > resume:
            segment = segment_of(span)
            places = self._prompts
            if segment is not None and segment.part == ANSWER:
                places = self._answers
            left += left_at.get(span, 0)
            uses = places.returns[INSIDE].further[left if left < MOST else MOST] if left else 0.0
            # A partial last block may be split, and is one point all the same.
            if segment is not None and segment is not below and span.stop >= segment.end:
                points.append((span.stop, uses + places.more(segment, END, place == END)))
                if segment.whole and places.returns[BEFORE_END].seen:
                    returning = place == BEFORE_END
                    points.append((segment.stop - 1, places.more(segment, BEFORE_END, returning)))
            elif uses:
                points.append((span.stop, uses))
            span, below, left, place = span.parent, segment, 0, -1

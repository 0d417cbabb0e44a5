"""The points to which prompts may return, each with the uses to expect of it, as learned."""

from __future__ import annotations

from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRates
from policies.placement.places import EndRates, InsideRates, Point
from policies.placement.sightings import (
    ANSWER_END,
    BEFORE_END,
    ENDS,
    IN_ANSWER,
    IN_PROMPT,
    PARTS,
    PROMPT_END,
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

    The places of what a request added are the end of its answer, the end of its prompt, the
    token before that (where a repeated prompt resumes), and where a prompt first diverges inside
    its answer or inside its prompt. First uses are counted by the kind of the request and its
    label; of a point that was returned to, more are expected by the number of returns so far.
    """

    def __init__(self) -> None:
        self.sightings = Sightings()
        self._reach = 0
        self._requests = 0
        self._rates = ReuseRates()
        self._ends = [EndRates(self._rates) for _ in ENDS]
        self._insides = [InsideRates(self._rates) for _ in PARTS]

    def begin(self, grid: Grid, reach_tokens: int) -> None:
        """Take the grid of positions, and the deepest one whose state the cache can hold."""
        self.sightings.grid = grid
        self._reach = reach_tokens

    def law(self, label: int) -> DivergenceLaw:
        """Return the law of where prompts first diverge inside prompts of a label."""
        return self._insides[IN_PROMPT - IN_ANSWER].law(label)

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Count where a prompt left the known requests, and the places that the request added."""
        self._rates.tick()
        leaf = overlap.span
        if leaf is not None:
            meeting = self.sightings.meet(leaf, overlap.depth)
            if meeting.segment is not None:
                self._count_use(meeting, meeting.segment, overlap)
            self._count_trials(leaf, overlap, meeting.kind)
        self._requests += 1
        if self._requests % REFRESH == 0:
            for end in self._ends:
                end.returns.refresh()
            for inside in self._insides:
                inside.branches.refresh()

    def _count_trials(self, leaf: KvSpan, overlap: Overlap, kind: int) -> None:
        """Count the places that a request added."""
        label, end = overlap.label, leaf if overlap.end is None else overlap.end
        added = leaf.stop > overlap.depth
        if added:
            self._ends[PROMPT_END].trial(kind, label)
            self._ends[BEFORE_END].trial(kind, label)
            self._insides[IN_PROMPT - IN_ANSWER].trial(kind, label)
        if end.stop > leaf.stop:
            self._ends[ANSWER_END].trial(kind, label)
            self._insides[0].trial(kind, label)
        elif not added:
            return
        self.sightings.add(leaf, end, overlap.depth, kind, label)

    def _count_use(self, meeting: Meeting, segment: Segment, overlap: Overlap) -> None:
        """Count a use of the point where a prompt left the known requests."""
        depth, resident, place = overlap.depth, overlap.kv_depth, meeting.place
        useful = resident < 0 or resident >= min(depth, overlap.prompt_tokens - 1, self._reach)
        if place < IN_ANSWER:
            before = segment.returns[place]
            segment.returns[place] = before + 1
            self._ends[place].use(segment.kind, segment.label, before, useful)
            return
        inside = self._insides[place - IN_ANSWER]
        inside.branches.count(self.sightings.note_divergence(meeting.span), useful)
        if not segment.left[place - IN_ANSWER]:
            segment.left[place - IN_ANSWER] = True
            if useful:
                start, stop = segment.bounds(place)
                inside.use(segment.kind, segment.label, start, stop, depth)

    # --- expecting --------------------------------------------------------------------------

    def points(self, prefix: Prefix, price: float) -> list[Point]:
        """Return the points of a prompt and its answer behind its resume point, the deepest first.

        Parameters
        ----------
        prefix
            The prompt, and where its answer ends.
        price
            Tokens that a point must save to be of interest.
        """
        overlap, resume = prefix.overlap, prefix.resume
        meeting = self.sightings.meet(prefix.span, overlap)
        points: list[Point] = []
        if prefix.end_tokens > prefix.prompt_tokens:
            self._add_answer(points, prefix, meeting.kind, price)
        if prefix.prompt_tokens > overlap:
            self._add_prompt(points, prefix, meeting.kind, price)
        if overlap > resume:
            self._add_known(points, resume, meeting)
        return points

    def _add_answer(self, points: list[Point], prefix: Prefix, kind: int, price: float) -> None:
        """Add the points in the answer."""
        label, start, stop = prefix.label, prefix.prompt_tokens, prefix.end_tokens
        points.append((stop, self._ends[ANSWER_END].expected(kind, label, 0)))
        inside = self._insides[0]
        if inside.seen:
            inside.add_first(points, kind, label, start, stop, price / (stop - prefix.resume))

    def _add_prompt(self, points: list[Point], prefix: Prefix, kind: int, price: float) -> None:
        """Add the points in the new part of the prompt."""
        label, start, stop = prefix.label, prefix.overlap, prefix.prompt_tokens
        points.append((stop, self._ends[PROMPT_END].expected(kind, label, 0)))
        repeats = self._ends[BEFORE_END]
        if repeats.seen:
            points.append((stop - 1, repeats.expected(kind, label, 0)))
        inside = self._insides[IN_PROMPT - IN_ANSWER]
        inside.add_first(points, kind, label, start, stop, price / (stop - prefix.resume))

    def _add_known(self, points: list[Point], resume: int, meeting: Meeting) -> None:
        """Add the known points between resume point and overlap, with this prompt's return."""
        segment_of, left_at = self.sightings.segment_of, self.sightings.left
        span, place = meeting.span, meeting.place
        below, part_below = None, IN_PROMPT
        left = int(place >= IN_ANSWER)  # by this prompt
        while span.stop > resume:
            segment = segment_of(span)
            left += left_at.get(span, 0)
            part = IN_PROMPT if segment is None or span.stop <= segment.stop else IN_ANSWER
            uses = self._insides[part - IN_ANSWER].branches.further(left) if left else 0.0
            # A partial last block may be split, and is one point all the same.
            at_end = segment is not None and (segment is not below or part != part_below)
            if segment is not None and at_end and span.stop >= segment.end_of(part):
                end = PROMPT_END if part == IN_PROMPT else ANSWER_END
                points.append((span.stop, uses + self._more(segment, end, place)))
                if part == IN_PROMPT and segment.before_end and self._ends[BEFORE_END].seen:
                    points.append((segment.stop - 1, self._more(segment, BEFORE_END, place)))
            elif uses:
                points.append((span.stop, uses))
            span, below, part_below, left, place = span.parent, segment, part, 0, IN_PROMPT

    def _more(self, segment: Segment, end: int, place: int) -> float:
        """Return the uses to expect of an end after the return of a prompt to `place`."""
        returns = segment.returns[end] + (place == end)
        return self._ends[end].expected(segment.kind, segment.label, returns)

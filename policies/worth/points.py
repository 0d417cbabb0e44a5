"""The points of known requests to which prompts return."""

from __future__ import annotations

from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.worth.kinds import (
    ANSWER_END,
    BESIDE,
    BRANCH,
    FRESH,
    LAST_TOKEN,
    LATER,
    PROMPT_END,
    WITHIN,
    after_use,
    kind_of,
)
from policies.worth.rates import Rates
from policies.worth.sightings import ANSWER, END, INSIDE, PROMPT, Segment, Sightings
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.protocols import Overlap, Prefix
from simulator.trace.grid import Grid

LEAST_DIVERGENCES: Final = 8  # before a label has a law of its own
IN_FLIGHT: Final = 1024  # requests between two reports of one, at most

Candidate = tuple[int, float, float]  # a position, the uses to expect of it, and uses a request


class ReturnPoint:
    """A point of a known request to which prompts may return.

    Parameters
    ----------
    kind
        Its kind.
    last
        The request that made it, or used it last.
    wait
        The number of its present wait.
    span, position
        A span on whose path it lies, and its position there, in tokens.
    turns
        How its request began.

    Attributes
    ----------
    server
        The cached state from which a prompt that returns to it would resume, None where unknown.
    """

    __slots__ = ("kind", "last", "position", "server", "span", "turns", "wait")

    def __init__(
        self, kind: int, last: int, wait: int, span: KvSpan, position: int, turns: int
    ) -> None:
        self.kind = kind
        self.last = last
        self.wait = wait
        self.span = span
        self.position = position
        self.turns = turns
        self.server: Checkpoint | None = None


class ReturnPoints:
    """Learns from all requests how soon prompts return to points, whatever was cached.

    Parameters
    ----------
    grid
        Where checkpoints may lie.

    Attributes
    ----------
    now
        Number of requests so far.
    rates
        The rates of returns.
    used
        States whose points were used since the list was last cleared.
    fresh
        Points made since the list was last cleared.
    """

    def __init__(self, grid: Grid) -> None:
        self.now = 0
        self.rates = Rates()
        self.rates.refresh(0)
        self.used: list[Checkpoint] = []
        self.fresh: list[ReturnPoint] = []
        self._grid = grid
        self._sightings = Sightings()
        self._sightings.grid = grid
        self._reported: dict[int, int] = {}  # how the latest requests began
        self._ends: dict[Segment, ReturnPoint] = {}
        self._insides: dict[Segment, ReturnPoint] = {}  # until prompts first diverge there
        self._last_tokens: dict[Segment, ReturnPoint] = {}
        self._branches: dict[KvSpan, ReturnPoint] = {}
        self._laws: dict[tuple[int, int], DivergenceLaw] = {}  # by part and label
        self._repeats = False  # whether any prompt was repeated

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Note where a prompt left the known requests, and the points that the request adds.

        A request may be reported twice, and its answer with the second report alone.
        """
        leaf, end, label = overlap.span, overlap.end, overlap.label
        turns = self._reported.get(overlap.request)
        if turns is None:
            self.now += 1
            self.rates.refresh(self.now)
            turns = FRESH if leaf is None else self._note_prompt(leaf, overlap.depth, label)
            self._reported[overlap.request] = turns
            if len(self._reported) > IN_FLIGHT:
                del self._reported[next(iter(self._reported))]
        if leaf is not None and end is not None and end.stop > leaf.stop:
            self._sightings.add_answer(end, leaf.stop, 0, label)
            self._add(end, ANSWER_END, turns, label)

    def _note_prompt(self, leaf: KvSpan, depth: int, label: int) -> int:
        """Count the point that a prompt has used, add its own; return how it began."""
        span, segment, place, kind = self._sightings.meet(leaf, depth)
        turns = FRESH
        if segment is not None:
            turns = self._turns_after(span, segment, place, leaf.stop)
            self._count_use(span, segment, place)
        if leaf.stop > depth:
            self._sightings.add_prompt(leaf, depth, kind, label)
            self._add(leaf, PROMPT_END, turns, label)
        return turns

    def _turns_after(self, span: KvSpan, segment: Segment, place: int, length: int) -> int:
        """Return how a prompt begins that leaves the known requests at the end of `span`."""
        if 2 * span.stop < length:
            return FRESH
        if place == INSIDE:
            return BESIDE
        before = self._ends[segment].turns
        return 1 if before == BESIDE else min(before + 1, LATER)

    def _add(self, end: KvSpan, place: int, turns: int, label: int) -> None:
        """Let the points of a new segment wait, unless another request was the first to add it."""
        segment = self._sightings.segment_of(end)
        if segment is None or segment in self._ends:
            return
        self._ends[segment] = self._made(place + turns, label, end, segment.end, turns)
        self._insides[segment] = self._new(WITHIN + turns, label, end, segment.stop, turns)
        if self._repeats and place == PROMPT_END and segment.whole:
            before = self._grid.floor(segment.stop - 1)
            self._last_tokens[segment] = self._made(LAST_TOKEN, label, end, before, turns)

    def _made(self, place: int, label: int, span: KvSpan, position: int, turns: int) -> ReturnPoint:
        point = self._new(place, label, span, position, turns)
        self.fresh.append(point)
        return point

    def _new(self, place: int, label: int, span: KvSpan, position: int, turns: int) -> ReturnPoint:
        """Return a new point that waits."""
        kind, now = kind_of(place, label), self.now
        return ReturnPoint(kind, now, self.rates.waits.begin(kind, now), span, position, turns)

    def _count_use(self, span: KvSpan, segment: Segment, place: int) -> None:
        """Count a use of the point where a prompt left the known requests."""
        if place == INSIDE:
            self._count_divergence(span, segment)
        elif place == END:
            segment.returns += 1
            self._use(self._ends[segment])
        else:
            segment.repeats += 1
            self._repeats = True
            point = self._last_tokens.get(segment)
            if point is not None:
                self._use(point)

    def _count_divergence(self, span: KvSpan, segment: Segment) -> None:
        branch = self._branches.get(span)
        if branch is None:
            position = self._grid.floor(span.stop)
            self._branches[span] = self._made(BRANCH, segment.label, span, position, BESIDE)
        else:
            self._use(branch)
        if not segment.left:
            segment.left = True
            self._use(self._insides.pop(segment))
            for label in {-1, segment.label}:
                law = self._laws.setdefault((segment.part, label), DivergenceLaw())
                law.observe(segment.start, segment.stop, span.stop)

    def _use(self, point: ReturnPoint) -> None:
        now, waits = self.now, self.rates.waits
        waits.end(point.wait, now)
        point.kind = after_use(point.kind)
        point.last = now
        point.wait = waits.begin(point.kind, now)
        if point.server is not None:
            self.used.append(point.server)

    # --- expecting --------------------------------------------------------------------------

    def rate_of(self, point: ReturnPoint) -> float:
        """Return the uses a request to expect of a point now."""
        return self.rates.rate[point.kind][(self.now - point.last).bit_length()]

    def points_at(self, span: KvSpan) -> tuple[ReturnPoint | None, ReturnPoint | None]:
        """Return the points at the end of a span: the end of a segment, and a point of divergence.

        A partial last block may be split, and all of it is the end.
        """
        segment = self._sightings.segment_of(span)
        end = None
        if segment is not None and span.stop >= segment.end:
            end = self._ends[segment]
        return end, self._branches.get(span)

    def points_of(self, state: Checkpoint) -> list[ReturnPoint]:
        """Return the points at the position of a state, or the inside of the segment around it."""
        span, position = state.span, state.position
        segment = self._sightings.segment_of(span)
        points: list[ReturnPoint] = []
        if segment is not None and span.stop >= segment.end:
            end = self._ends[segment]
            if end.position == position:
                points.append(end)
        branch = self._branches.get(span)
        if branch is not None and branch.position == position:
            points.append(branch)
        if not points and segment is not None:
            inside = self._insides.get(segment)
            if inside is not None:
                inside.span, inside.position = span, position
                points.append(inside)
        return points

    def candidates(self, prefix: Prefix) -> list[Candidate]:
        """Return the points of a prompt and its answer behind its resume point, deepest first.

        What is expected of a point to which the prompt returns counts this return.
        """
        overlap, length, label = prefix.overlap, prefix.prompt_tokens, prefix.label
        span, segment, place, _ = self._sightings.meet(prefix.span, overlap)
        turns = FRESH if segment is None else self._turns_after(span, segment, place, length)
        points: list[Candidate] = []
        if prefix.end_tokens > length:
            self._add_new(points, ANSWER, turns, label, length, prefix.end_tokens)
        if length > overlap:
            self._add_new(points, PROMPT, turns, label, overlap, length)
        rate, uses = self.rates.rate, self.rates.uses
        resume, now, below = prefix.resume, self.now, None
        while span.stop > resume:
            end, branch = self.points_at(span)
            more = sooner = 0.0
            if end is not None and end is not below:
                kind, bits = end.kind, (now - end.last).bit_length()
                if place == END:
                    kind, bits = after_use(kind), 0
                more, sooner = uses[kind], rate[kind][bits]
            if branch is not None:
                kind, bits = branch.kind, (now - branch.last).bit_length()
                if place == INSIDE:
                    kind, bits = after_use(kind), 0
                more += uses[kind]
                sooner += rate[kind][bits]
            if place == INSIDE and branch is None:
                kind = kind_of(BRANCH, label)
                more += uses[kind]
                sooner += rate[kind][0]
            if more:
                points.append((span.stop, more, sooner))
            span, below, place = span.parent, end, -1
        return points

    def _add_new(
        self, points: list[Candidate], part: int, turns: int, label: int, start: int, stop: int
    ) -> None:
        """Add the points of the new tokens `(start, stop]` of a prompt or an answer."""
        rate, uses = self.rates.rate, self.rates.uses
        kind = kind_of((PROMPT_END if part == PROMPT else ANSWER_END) + turns, label)
        points.append((stop, uses[kind], rate[kind][0]))
        if self._repeats and part == PROMPT:
            kind = kind_of(LAST_TOKEN, label)
            points.append((stop - 1, uses[kind], rate[kind][0]))
        law = self._laws.get((part, label))
        if law is None or len(law) < LEAST_DIVERGENCES:
            law = self._laws.get((part, -1))
        if law is not None:
            position, share = law.best(start, stop)
            if position > start:
                kind = kind_of(WITHIN + turns, label)
                points.append((position, share * uses[kind], share * rate[kind][0]))

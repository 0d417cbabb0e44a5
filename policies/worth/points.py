"""The points of known requests to which prompts return, and how long each waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from policies.worth.sightings import (
    ANSWER,
    BEFORE_END,
    END,
    INSIDE,
    PROMPT,
    Segment,
    Sightings,
)
from policies.estimation.divergence import DivergenceLaw
from policies.worth.index import STAGES, indices
from policies.worth.waits import BINS, Waits
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Prefix
from simulator.trace.grid import Grid

# How a request began, which says much about how it goes on: unlike any before, as a second, a
# third or a later turn, or beside an earlier request.
BEGINNINGS: Final = 5
FRESH, LATER, BESIDE = 0, 3, 4

# Kinds of points: ends of prompts and of answers, insides, by how the request began; the token
# before the end of a prompt; points where prompts have diverged.
PROMPT_END: Final = 0
ANSWER_END: Final = BEGINNINGS
WITHIN: Final = 2 * BEGINNINGS
LAST_TOKEN: Final = 3 * BEGINNINGS
BRANCH: Final = LAST_TOKEN + 1
POINTS: Final = BRANCH + 1
_ALIKE: Final = ((0, 5), (5, 10), (10, 15), (15, 16), (16, 17))  # kinds that have much in common
KINDS: Final = POINTS * STAGES
LABELS: Final = 8  # further labels are not told apart
IN_FLIGHT: Final = 1024  # requests between two tellings of one, at most
PRIOR: Final = 12.0  # waits of its own that weigh as much as those of the kinds next to it
FIRST_CHANCE: Final = 0.03  # of a use in a bin, before anything is known
MOST_CHANCE: Final = 0.999
ALIKE: Final = 1.1  # the ratio of rates of two bins up to which they count as the same
NEVER: Final = 1 << 60
LEAST_DIVERGENCES: Final = 8  # before a label has a law of its own
LEAST_STEP, MOST_STEP = 32, 1024  # requests between two computations of the index

Candidate = tuple[int, float, float]  # a position, the uses to expect of it, and uses a request


class ReturnPoint:
    """A point of a known request to which prompts may return.

    Parameters
    ----------
    kind
        Its kind, with the number of its waits so far and the label of its request.
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
        The state from which a prompt that returns to it would resume.
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
        self.server: Any = None


class ReturnPoints:
    """Learns from all requests how soon prompts return to points, whatever was cached.

    Attributes
    ----------
    now
        Number of requests so far.
    rate
        For each kind and bin of ages the uses a request to expect of a point.
    uses
        For each kind the uses to expect of a point at the begin of a wait.
    learned
        How often these were computed.
    used
        States whose points were used by the latest request.
    fresh
        Points that have been made and that no state was given yet.
    """

    def __init__(self, grid: Grid) -> None:
        self.now = 0
        self.learned = 0
        self.used: list[Any] = []
        self.fresh: list[ReturnPoint] = []
        self.rate: list[list[float]] = []
        self.until: list[list[int]] = []
        self.uses: list[float] = []
        self._grid = grid
        self._told: dict[int, None] = {}  # the latest requests
        self.sightings = Sightings()
        self.sightings.grid = grid
        self._waits = Waits()
        self._ends: dict[Segment, ReturnPoint] = {}
        self._insides: dict[Segment, int] = {}  # the waits for a first divergence
        self._tokens: dict[Segment, ReturnPoint] = {}
        self._branches: dict[KvSpan, ReturnPoint] = {}
        self._repeats = False
        self._laws: dict[tuple[int, int], DivergenceLaw] = {}  # by part and label
        self._due = LEAST_STEP
        self._learn()

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Note where a prompt left the known requests, and the points that the request adds.

        Being told of a request twice does no harm, and its answer may be told later.
        """
        leaf, end, label = overlap.span, overlap.end, overlap.label
        if overlap.request not in self._told:
            self._told[overlap.request] = None
            if len(self._told) > IN_FLIGHT:
                del self._told[next(iter(self._told))]
            self.now += 1
            if self.now >= self._due:
                self._learn()
            self._turns = FRESH
            if leaf is not None:
                self._note_prompt(leaf, overlap.depth, label)
        if leaf is not None and end is not None and end.stop > leaf.stop:
            self._note_answer(end, leaf.stop, label)

    def _note_prompt(self, leaf: KvSpan, depth: int, label: int) -> None:
        span, segment, place, kind = self.sightings.meet(leaf, depth)
        if segment is not None:
            self._turns = self._turns_after(span, segment, place, leaf.stop)
            if place == INSIDE:
                self._use_inside(span, segment)
            elif place == END:
                self._use(self._ends[segment])
            else:
                self._repeats = True
                if segment in self._tokens:
                    self._use(self._tokens[segment])
            if place == BEFORE_END:
                segment.repeats += 1
            elif place == END:
                segment.returns += 1
        if leaf.stop > depth:
            self.sightings.add_prompt(leaf, depth, kind, label)
            added = self.sightings.segment_of(leaf)
            if added is not None and added not in self._ends:
                self._add(added, leaf, PROMPT_END, label)

    def _note_answer(self, end: KvSpan, start: int, label: int) -> None:
        self.sightings.add_answer(end, start, 0, label)
        added = self.sightings.segment_of(end)
        if added is not None and added not in self._ends:
            self._add(added, end, ANSWER_END, label)

    def _turns_after(self, span: KvSpan, segment: Segment, place: int, length: int) -> int:
        """Return how a prompt begins that leaves the known requests at the end of `span`."""
        if 2 * span.stop < length:
            return FRESH
        if place == INSIDE:
            return BESIDE
        before = self._ends[segment].turns
        return 1 if before == BESIDE else min(before + 1, LATER)

    def _add(self, segment: Segment, end: KvSpan, base: int, label: int) -> None:
        """Let the points of a new segment wait: its end, and its inside."""
        turns = self._turns
        self._ends[segment] = self._made(base + turns, label, end, segment.end, turns)
        within = _kind(WITHIN + turns, label)
        self._insides[segment] = self._waits.begin(within, self.now)
        if self._repeats and base == PROMPT_END and segment.whole:
            before = self._grid.floor(segment.stop - 1)
            self._tokens[segment] = self._made(LAST_TOKEN, label, end, before, turns)

    def _made(self, point: int, label: int, span: KvSpan, position: int, turns: int) -> ReturnPoint:
        kind = _kind(point, label)
        made = ReturnPoint(kind, self.now, self._waits.begin(kind, self.now), span, position, turns)
        self.fresh.append(made)
        return made

    def _use_inside(self, span: KvSpan, segment: Segment) -> None:
        branch = self._branches.get(span)
        if branch is None:
            position = self._grid.floor(span.stop)
            self._branches[span] = self._made(BRANCH, segment.label, span, position, BESIDE)
        else:
            self._use(branch)
        if not segment.left:
            segment.left = True
            self._waits.end(self._insides.pop(segment), self.now)
            part = segment.part
            for label in {-1, segment.label}:
                law = self._laws.get((part, label))
                if law is None:
                    law = self._laws[part, label] = DivergenceLaw()
                law.observe(segment.start, segment.stop, span.stop)

    def _use(self, point: ReturnPoint) -> None:
        now = self.now
        self._waits.end(point.wait, now)
        if point.kind % STAGES < STAGES - 1:
            point.kind += 1
        point.last = now
        point.wait = self._waits.begin(point.kind, now)
        if point.server is not None:
            self.used.append(point.server)

    # --- expecting --------------------------------------------------------------------------

    def rate_of(self, point: ReturnPoint) -> float:
        """Return the uses a request to expect of a point now."""
        return self.rate[point.kind][(self.now - point.last).bit_length()]

    def points_at(self, span: KvSpan) -> Sequence[ReturnPoint]:
        """Return the points at the end of a span: where a segment ends, and where prompts left."""
        segment = self.sightings.segment_of(span)
        points = []
        if segment is not None and span.stop >= segment.end:
            points.append(self._ends[segment])
        branch = self._branches.get(span)
        if branch is not None:
            points.append(branch)
        return points

    def candidates(self, prefix: Prefix) -> list[Candidate]:
        """Return the points of a prompt and its answer behind its resume point, the deepest first."""
        overlap, length, label = prefix.overlap, prefix.prompt_tokens, prefix.label
        span, segment, place, _ = self.sightings.meet(prefix.span, overlap)
        turns = FRESH
        if segment is not None:
            turns = self._turns_after(span, segment, place, length)
        group = KINDS * (label + 1) if 0 <= label < LABELS else 0
        chosen: list[Candidate] = []
        if prefix.end_tokens > length:
            self._add_new(chosen, group, turns, label, ANSWER, length, prefix.end_tokens)
        if length > overlap:
            self._add_new(chosen, group, turns, label, PROMPT, overlap, length)
        resume, below = prefix.resume, None
        while span.stop > resume:
            known = self.sightings.segment_of(span)
            uses = rate = 0.0
            for point in self.points_at(span):
                if known is below and point is not self._branches.get(span):
                    continue
                kind, age = point.kind, (self.now - point.last).bit_length()
                if (
                    place == INSIDE
                    and point.kind // STAGES % POINTS == BRANCH
                    or place == END
                    and (point.kind // STAGES % POINTS != BRANCH)
                ):  # this prompt returns to it
                    kind, age = kind + (kind % STAGES < STAGES - 1), 0
                uses += self.uses[kind]
                rate += self.rate[kind][age]
            if place == INSIDE and span not in self._branches:
                kind = group + BRANCH * STAGES
                uses += self.uses[kind]
                rate += self.rate[kind][0]
            if uses:
                chosen.append((span.stop, uses, rate))
            span, below, place = span.parent, known, -1
        return chosen

    def _add_new(
        self,
        chosen: list[Candidate],
        group: int,
        turns: int,
        label: int,
        part: int,
        start: int,
        stop: int,
    ) -> None:
        """Add the points of the new tokens `(start, stop]` of a prompt or an answer."""
        kind = group + ((ANSWER_END if part == ANSWER else PROMPT_END) + turns) * STAGES
        chosen.append((stop, self.uses[kind], self.rate[kind][0]))
        if self._repeats and part == PROMPT:
            kind = group + LAST_TOKEN * STAGES
            chosen.append((stop - 1, self.uses[kind], self.rate[kind][0]))
        law = self._laws.get((part, label))
        if law is None or len(law) < LEAST_DIVERGENCES:
            law = self._laws.get((part, -1))
        if law is not None:
            position, share = law.best(start, stop)
            if position > start:
                kind = group + (WITHIN + turns) * STAGES
                chosen.append((position, share * self.uses[kind], share * self.rate[kind][0]))

    def _learn(self) -> None:
        """Compute rates and uses from the waits so far."""
        self.learned += 1
        self._due = self.now + max(LEAST_STEP, min(MOST_STEP, self.now // 6))
        used, came = self._waits.counts(KINDS * (LABELS + 1), self.now)
        shape = (LABELS + 1, POINTS, STAGES, BINS)
        used, came = used.reshape(shape), came.reshape(shape)
        told = came[1:].any(axis=(1, 2, 3))
        used[0] += used[1:].sum(axis=0)
        came[0] += came[1:].sum(axis=0)
        chances = np.empty(shape)
        chances[0] = _shrunk(used[0], came[0], _common(used[0], came[0]))
        chances[1:] = _shrunk(used[1:], came[1:], chances[0])
        groups = np.flatnonzero(np.concatenate(([True], told)))
        again = np.ones(POINTS, bool)
        again[WITHIN:LAST_TOKEN] = False
        few = np.minimum(chances[groups], MOST_CHANCE).reshape(-1, STAGES, BINS)
        index, uses = indices(few, np.tile(again, len(groups)))
        rows = index.reshape(len(groups), KINDS, BINS)
        counts = uses.reshape(len(groups), KINDS)
        tables = {group: at for at, group in enumerate(groups.tolist())}
        self.rate, self.until, self.uses = [], [], []
        lasting = _lasting(rows)
        for group in range(LABELS + 1):
            at = tables.get(group, 0)
            self.rate += [row + row[-1:] * 44 for row in rows[at].tolist()]
            self.until += [row + [NEVER] * 44 for row in lasting[at].tolist()]
            self.uses += counts[at].tolist()


def _lasting(rates: np.ndarray) -> np.ndarray:
    """Return the age up to which each rate stays about the same, of the same shape."""
    lasting = np.full(rates.shape, NEVER)
    ratio = rates[..., 1:] / rates[..., :-1]
    alike = (ratio <= ALIKE) & (ratio * ALIKE >= 1.0)
    for age_bin in reversed(range(BINS - 1)):
        ends = 1 << age_bin
        lasting[..., age_bin] = np.where(alike[..., age_bin], lasting[..., age_bin + 1], ends)
    return lasting


def _kind(point: int, label: int) -> int:
    """Return the kind of a point that has not been used, of a request with a label."""
    return point * STAGES + (KINDS * (label + 1) if 0 <= label < LABELS else 0)


def _shrunk(used: np.ndarray, came: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return the chance of a use by bin, drawn towards another where there are few waits."""
    return (used + PRIOR * to) / (came + PRIOR)


def _common(used: np.ndarray, came: np.ndarray) -> np.ndarray:
    """Return the chances of kinds that have much in common, taken together."""
    common = np.empty(used.shape)
    for first, after in _ALIKE:
        uses, waits = used[first:after].sum(axis=0), came[first:after].sum(axis=0)
        common[first:after] = _shrunk(uses, waits, np.array(FIRST_CHANCE))
    return common

"""The learning and the choice of the placer `adaptive`, apart from it so as to be compiled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRate, ReuseRates
from policies.placement.chain import priced_chain
from policies.placement.price import Price
from policies.placement.sightings import CONTINUED, KINDS, Meeting, Sightings
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap, Prefix

MOST: Final = 8  # returns to one point; more are counted as this many
REFRESH: Final = 32  # requests after which the expected further uses are computed anew
ENDLESS: Final = 2**62
LABEL_SAMPLES: Final = 8  # divergences before a label has a law of its own

Point = tuple[int, float]  # a candidate, and the uses to expect of it


class AdaptiveRule:
    """Estimates the uses of each point that prompts may return to, and chooses by their price.

    Parameters
    ----------
    rate
        New checkpoints a request, on average, at most.
    """

    def __init__(self, rate: float) -> None:
        self._sightings = Sightings()
        self._price = Price(rate)
        self._law = DivergenceLaw()
        self._laws: defaultdict[int, DivergenceLaw] = defaultdict(DivergenceLaw)
        self._reach = ENDLESS
        self._requests = 0
        self._rates = ReuseRates()
        # By kind: how often a segment is continued behind its end, and first left inside.
        self._ends = [self._rates.add() for _ in KINDS]
        self._firsts = [self._rates.add() for _ in KINDS]
        # By the number of returns so far: how often one more follows, and how many in all.
        self._end_returns = [self._rates.add() for _ in range(MOST + 1)]
        self._branch_returns = [self._rates.add() for _ in range(MOST + 1)]
        self._end_further = [1.0] * (MOST + 1)
        self._branch_further = [1.0] * (MOST + 1)

    def begin(self, context: CacheContext) -> None:
        """Read costs, sizes and the grid of checkpoint positions."""
        self._sightings.grid = context.grid
        self._price.begin(context)
        self._reach = reach_tokens(context)

    def coordinate(self, label: int = -1) -> str:
        """Return the coordinate in which positions have saved most for prompts of a label."""
        return self._law_of(label).coordinate

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Count how the request overlapped earlier ones, and the tokens that it added."""
        self._rates.tick()
        self._price.observe(overlap)
        span = overlap.span
        if span is not None:
            depth, label = overlap.depth, overlap.label
            meeting = self._sightings.meet(span, depth)
            if meeting.segment is not None:
                self._count_use(meeting, overlap)
            if overlap.prompt_tokens > depth:
                self._sightings.add(span, depth, meeting.kind, label)
                self._ends[meeting.kind].trial(label)
                self._firsts[meeting.kind].trial(label)
        self._requests += 1
        if self._requests % REFRESH == 0:
            self._end_further = _further(self._end_returns)
            self._branch_further = _further(self._branch_returns)

    def _count_use(self, meeting: Meeting, overlap: Overlap) -> None:
        """Count a use of the point where a prompt left the known prompts."""
        segment = meeting.segment
        assert segment is not None
        depth, resident = overlap.depth, overlap.kv_depth
        useful = resident < 0 or resident >= min(depth, overlap.prompt_tokens - 1, self._reach)
        if meeting.kind == CONTINUED:
            if useful and segment.returns:
                self._end_returns[min(segment.returns, MOST)].use()
            elif useful:
                self._ends[segment.kind].use(segment.label)
            segment.returns += 1
            self._end_returns[min(segment.returns, MOST)].trial()
            return
        before = self._sightings.note_divergence(meeting.span)
        if useful and before:
            self._branch_returns[min(before, MOST)].use()
        self._branch_returns[min(before + 1, MOST)].trial()
        if not segment.left:
            segment.left = True
            if useful:
                self._firsts[segment.kind].use(segment.label)
                self._law.observe(segment.start, segment.stop, depth)
                if segment.label >= 0:
                    self._laws[segment.label].observe(segment.start, segment.stop, depth)

    # --- placing ----------------------------------------------------------------------------

    def place(self, prefix: Prefix) -> Sequence[int]:
        """Return the candidates that are worth their price."""
        overlap, resume, price = prefix.overlap, prefix.resume, self._price.tokens
        meeting = self._sightings.meet(prefix.span, overlap)
        points: list[Point] = []
        if prefix.prompt_tokens > overlap:
            self._add_first_seen(points, prefix, meeting, price)
        if overlap > resume:
            self._add_known(points, resume, meeting)
        oversized = prefix.prompt_tokens > self._reach
        if oversized:
            points = [(min(position, self._reach), uses) for position, uses in points]
        wanted, gains, survival = self._on_grid(points, resume)
        if oversized and gains:
            best = max(range(len(gains)), key=lambda i: gains[i] * survival[i])
            return wanted[best : best + 1] if gains[best] * survival[best] > price else ()
        return [wanted[i] for i in priced_chain(gains, survival, price)]

    def expected(self, prefix: Prefix) -> list[Point]:
        """Return all points to which prompts may return, the deepest first, and their uses.

        Unlike those of `place` they need not lie behind the resume point.
        """
        meeting = self._sightings.meet(prefix.span, prefix.overlap)
        points: list[Point] = []
        if prefix.prompt_tokens > prefix.overlap:
            self._add_first_seen(points, prefix, meeting, 0.0)
        self._add_known(points, 0, meeting)
        return points

    def _on_grid(
        self, points: list[Point], resume: int
    ) -> tuple[list[int], list[float], list[float]]:
        """Return the points behind `resume`, what each saves a use, and its expected uses."""
        floor = self._sightings.grid.floor
        wanted: list[int] = []
        gains: list[float] = []
        survival: list[float] = []
        total, last = 0.0, 0
        for position, uses in points:
            gain = floor(position) - resume
            if gain <= 0:
                break
            total += uses
            if gain == last:  # one position of the grid serves both
                wanted[-1], survival[-1] = position, total
                continue
            last = gain
            wanted.append(position)
            gains.append(float(gain))
            survival.append(total)
        return wanted, gains, survival

    def _add_first_seen(
        self, points: list[Point], prefix: Prefix, meeting: Meeting, price: float
    ) -> None:
        """Add the candidates in the new part of the prompt, the deepest first."""
        start, stop, label, kind = prefix.overlap, prefix.prompt_tokens, prefix.label, meeting.kind
        points.append((stop, self._end_uses(kind, 0, label)))
        first = self._firsts[kind].rate(label)
        if first * (stop - prefix.resume) > price:
            position, share = self._law_of(label).best(start, stop)
            if position > start:
                points.append((position, first * share))

    def _add_known(self, points: list[Point], resume: int, meeting: Meeting) -> None:
        """Add the candidates between resume point and overlap, the deepest first."""
        segment_of, left_at = self._sightings.segment_of, self._sightings.left
        span, below = meeting.span, None
        continued = meeting.kind == CONTINUED
        left, returned = (0, 1) if continued else (1, 0)  # by this prompt
        while span.stop > resume:
            segment = segment_of(span)
            left += left_at.get(span, 0)
            uses = self._branch_further[min(left, MOST)] if left else 0.0
            # A partial last block may be split, and is one point all the same.
            if segment is not None and segment is not below and span.stop >= segment.end:
                uses += self._end_uses(segment.kind, segment.returns + returned, segment.label)
            if uses:
                points.append((span.stop, uses))
            span, below, left, returned = span.parent, segment, 0, 0

    def _end_uses(self, kind: int, returns: int, label: int) -> float:
        if returns:
            return self._end_further[min(returns, MOST)]
        return min(self._ends[kind].rate(label), 1.0) * (1 + self._end_further[1])

    def _law_of(self, label: int) -> DivergenceLaw:
        """Return the law of a label, or that of all while the label has few divergences."""
        own = self._laws.get(label)
        return self._law if own is None or len(own) < LABEL_SAMPLES else own


def reach_tokens(context: CacheContext) -> int:
    """Return the deepest position whose state the cache can hold beside the KV before it.

    A prompt that reaches beyond is given one state at most: a second would take its bytes from
    the KV before the first.
    """
    sizes = context.sizes
    if context.capacity_bytes is None or not sizes.kv_bytes_per_token:
        return ENDLESS
    return max(0, context.capacity_bytes - sizes.state_bytes) // sizes.kv_bytes_per_token


def _further(returns: list[ReuseRate]) -> list[float]:
    """Return the further uses to expect of a point after each number of returns, 1 to MOST.

    With q_j the chance that return j is followed by another: q_j (1 + q_{j+1} (1 + ...)).
    """
    rates = [min(rate.rate(), 0.995) for rate in returns]
    further = [0.0] * MOST + [rates[MOST] / (1 - rates[MOST])]
    for j in range(MOST - 1, 0, -1):
        further[j] = rates[j] * (1 + further[j + 1])
    return further

"""One rule for all traffic: the checkpoints whose expected saving exceeds their price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRates
from policies.parameters import require
from policies.placement.base import BasePlacer
from policies.placement.chain import priced_chain
from policies.placement.price import Price
from policies.placement.sightings import CONTINUED, Meeting, Sightings
from simulator.protocols import Overlap, Prefix
from simulator.world import World

MOST = 8  # landings at one point that are told apart
REFRESH = 32  # requests between two looks at how often points are used again
LABEL_SAMPLES = 8  # divergences before a label has a law of its own


class Adaptive(BasePlacer):
    """Learn where prompts return, and write the checkpoints that are worth their price.

    Candidates are the points that prompts are known to return to (where they diverged, or
    ended), the end of the prompt, and one point where a second prompt may leave this one, by the
    law of such divergences in its sharpest coordinate. How often each kind of point is used
    again is counted for every request, whether or not a state was there, so that nothing has to
    be tried out; a use that the cache could not have served, its KV being gone, does not count.
    From the expected uses the set with the greatest saving less its price follows exactly.

    Parameters
    ----------
    rate
        New checkpoints a request, on average, at most; above 0.
    """

    source = "this project: policies/placement/adaptive.py"
    observes: ClassVar[bool] = True

    def __init__(self, rate: float = 1.0) -> None:
        require(0 < rate <= 1e6, "rate", "above 0 and at most 1000000", rate)
        self._sightings = Sightings()
        self._rates = ReuseRates()
        self._price = Price(rate)
        self._law = DivergenceLaw()
        self._laws: defaultdict[int, DivergenceLaw] = defaultdict(DivergenceLaw)
        self._requests = 0
        self._further = {"end": [1.0] * (MOST + 1), "branch": [1.0] * (MOST + 1)}

    def begin(self, world: World) -> None:
        """Get to know costs, bytes and where checkpoints may lie."""
        self._sightings.grid = world.grid
        self._price.begin(world)

    def coordinate(self, label: int = -1) -> str:
        """Return the coordinate in which divergences inside prompts of a label are sharpest."""
        return self._law_of(label).coordinate

    # --- learning ---------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Count how the request met earlier ones, and what it has added."""
        self._rates.tick()
        self._price.observe(overlap)
        if overlap.run is not None:
            depth, label = overlap.depth, overlap.label
            meeting = self._sightings.meet(overlap.run, depth)
            useful = overlap.kv_depth < 0 or overlap.kv_depth >= min(
                depth, overlap.prompt_tokens - 1
            )
            self._count_use(meeting, depth, useful)
            if overlap.prompt_tokens > depth:
                self._sightings.add(overlap.run, depth, meeting.kind, label)
                self._rates.trial(("end", meeting.kind), label)
                self._rates.trial(("first", meeting.kind), label)
        self._requests += 1
        if self._requests % REFRESH == 0:
            self._further = {point: self._chain(point) for point in self._further}

    def _count_use(self, meeting: Meeting, depth: int, useful: bool) -> None:
        """Count the use of the point where a prompt left what was known."""
        segment = meeting.segment
        if segment is None:
            return
        if meeting.kind == CONTINUED:
            if segment.returns:
                self._count_return("end", segment.returns, useful)
            elif useful:
                self._rates.use(("end", segment.kind), segment.label)
            segment.returns += 1
            self._rates.trial(("end at", min(segment.returns, MOST)))
            return
        before = self._sightings.note_divergence(meeting.run)
        if before:
            self._count_return("branch", before, useful)
        self._rates.trial(("branch at", min(before + 1, MOST)))
        if not segment.left:
            segment.left = True
            if useful:
                self._rates.use(("first", segment.kind), segment.label)
                self._law.observe(segment.start, segment.stop, depth)
                if segment.label >= 0:
                    self._laws[segment.label].observe(segment.start, segment.stop, depth)

    def _count_return(self, point: str, landings: int, useful: bool) -> None:
        if useful:
            self._rates.use((f"{point} at", min(landings, MOST)))

    def _chain(self, point: str) -> list[float]:
        """Return the uses to expect of a point after each number of landings, 1 to MOST.

        With q_j the chance that landing j is followed by another: q_j (1 + q_{j+1} (1 + ...)).
        """
        rates = [min(self._rates.rate((f"{point} at", j)), 0.995) for j in range(MOST + 1)]
        further = [0.0] * MOST + [rates[MOST] / (1 - rates[MOST])]
        for j in range(MOST - 1, 0, -1):
            further[j] = rates[j] * (1 + further[j + 1])
        return further

    # --- placing ----------------------------------------------------------------------------

    def place(self, prefix: Prefix) -> Sequence[int]:
        """Return the candidates that are worth their price."""
        meeting = self._sightings.meet(prefix.run, prefix.overlap)
        floor = self._sightings.grid.floor
        price = self._price.tokens
        candidates = self._known(prefix, meeting)
        if prefix.prompt_tokens > prefix.overlap:
            candidates += self._first_seen(prefix, meeting, price)
        wanted: list[int] = []
        positions: list[int] = []
        uses: list[float] = []
        deepest = prefix.resume
        for position, expected in candidates:
            floored = floor(position)
            if floored > deepest:
                wanted.append(position)
                positions.append(floored)
                uses.append(expected)
                deepest = floored
            elif positions:
                uses[-1] += expected  # one position of the grid serves both
        chosen = priced_chain(prefix.resume, positions, uses, price)
        return [wanted[i] for i in chosen]

    def _known(self, prefix: Prefix, meeting: Meeting) -> list[tuple[int, float]]:
        """Return the known points without a state up to the overlap, with their uses."""
        points: list[tuple[int, float]] = []
        sightings, resume = self._sightings, prefix.resume
        run, below = meeting.run, None
        while run.stop > resume:
            own = run is meeting.run
            segment = sightings.segment(run)
            left = sightings.divergences(run) + (own and meeting.kind != CONTINUED)
            uses = self._further["branch"][min(left, MOST)] if left else 0.0
            # A partial last block may be split, and is one point all the same.
            if segment is not None and run.stop >= segment.end and segment is not below:
                returns = segment.returns + (own and meeting.kind == CONTINUED)
                uses += self._end_uses(segment.kind, returns, segment.label)
            if uses:
                points.append((run.stop, uses))
            run, below = run.parent, segment
        points.reverse()
        return points

    def _first_seen(
        self, prefix: Prefix, meeting: Meeting, price: float
    ) -> list[tuple[int, float]]:
        """Return the points that this prompt adds, with their uses."""
        start, stop, label = prefix.overlap, prefix.prompt_tokens, prefix.label
        points: list[tuple[int, float]] = []
        first = self._rates.rate(("first", meeting.kind), label)
        if first * (stop - prefix.resume) > price:
            position, share = self._law_of(label).best(start, stop)
            if position > start:
                points.append((position, first * share))
        points.append((stop, self._end_uses(meeting.kind, 0, label)))
        return points

    def _end_uses(self, kind: int, returns: int, label: int) -> float:
        further = self._further["end"]
        if returns:
            return further[min(returns, MOST)]
        return min(self._rates.rate(("end", kind), label), 1.0) * (1 + further[1])

    def _law_of(self, label: int) -> DivergenceLaw:
        """Return the law of a label, or that of all while the label has shown too little."""
        own = self._laws.get(label)
        return self._law if own is None or len(own) < LABEL_SAMPLES else own

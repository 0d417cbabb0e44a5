"""Rates of returns to the places of prompts, and to those of answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRates
from policies.worth.sightings import BEFORE_END, END, INSIDE, KINDS, PLACES, Segment

MOST: Final = 8  # returns to one point; more are counted as this many
CERTAIN: Final = 0.995  # the highest rate of one more return
LABEL_SAMPLES: Final = 8  # divergences before a label has a law of its own

Point = tuple[int, float]  # a position, and the uses to expect of it


class FurtherReturns:
    """The rate at which one more return to a point follows each return to it.

    Parameters
    ----------
    rates
        The clock by which the counts decay.

    Attributes
    ----------
    seen
        Whether any prompt has returned to such a point.
    further
        The uses still to be expected of a point, by the number of returns so far, 1 to MOST.
    """

    def __init__(self, rates: ReuseRates) -> None:
        self._again = [rates.add() for _ in range(MOST + 1)]  # by the number of returns
        self.further = [1.0] * (MOST + 1)
        self.seen = False

    def count(self, before: int, useful: bool) -> None:
        """Count a return, useful or not, to a point to which `before` prompts have returned."""
        self.seen = True
        if before and useful:
            self._again[before if before < MOST else MOST].use()
        self._again[before + 1 if before < MOST else MOST].trial()

    def refresh(self) -> None:
        """Compute anew what is to be expected, from all counts so far.

        With q_j the chance that return j is followed by another: q_j (1 + q_{j+1} (1 + ...)).
        """
        if self.seen:
            rates = [min(rate.rate(), CERTAIN) for rate in self._again]
            further = [0.0] * MOST + [rates[MOST] / (1 - rates[MOST])]
            for j in range(MOST - 1, 0, -1):
                further[j] = rates[j] * (1 + further[j + 1])
            self.further = further


class PlaceRates:
    """The rates at which prompts return to the places of prompts, or to those of answers.

    First returns are counted by the kind of the request and its label, further ones by how many
    there were.

    Parameters
    ----------
    rates
        The clock by which the counts decay.
    tries_inside
        Whether divergences inside are expected before one was seen.

    Attributes
    ----------
    first
        By kind: the prompts or answers that came into being, and their first returns by place.
    returns
        To points of each of PLACES: ends, tokens before ends, points of divergence.
    """

    def __init__(self, rates: ReuseRates, *, tries_inside: bool) -> None:
        self._tries_inside = tries_inside
        self.first = [rates.add(len(PLACES)) for _ in KINDS]
        self.returns = [FurtherReturns(rates) for _ in PLACES]
        self._law = DivergenceLaw()
        self._laws: defaultdict[int, DivergenceLaw] = defaultdict(DivergenceLaw)

    def use_end(self, segment: Segment, place: int, useful: bool) -> None:
        """Count a return to the end of a segment, or to the token before.

        One that the cache could not have served is not `useful`, and no use of the last one.
        """
        if place == END:
            before = segment.returns
            segment.returns = before + 1
        else:
            before = segment.repeats
            segment.repeats = before + 1
        if useful and not before:
            self.first[segment.kind].use(segment.label, place)
        self.returns[place].count(before, useful)

    def use_inside(self, segment: Segment, depth: int, before: int, useful: bool) -> None:
        """Count a divergence at `depth` inside a segment, where `before` prompts diverged."""
        self.returns[INSIDE].count(before, useful)
        if segment.left:
            return
        segment.left = True
        if useful:
            label = segment.label
            self.first[segment.kind].use(label, INSIDE)
            self._law.observe(segment.start, segment.stop, depth)
            if label >= 0:
                self._laws[label].observe(segment.start, segment.stop, depth)

    def law(self, label: int) -> DivergenceLaw:
        """Return the law of first divergences of a label, or of all while it has seen few."""
        own = self._laws.get(label)
        return self._law if own is None or len(own) < LABEL_SAMPLES else own

    def add_new(
        self, points: list[Point], kind: int, label: int, start: int, stop: int, least: float
    ) -> None:
        """Add the points in the new tokens `(start, stop]` of a request, the deepest first.

        Parameters
        ----------
        least
            The rate of divergences inside them above which it is of interest where.
        """
        first, (ends, before, inside) = self.first[kind], self.returns
        rate = first.rate(label, END)
        points.append((stop, (rate if rate < 1.0 else 1.0) * (1 + ends.further[1])))
        if before.seen:
            rate = min(first.rate(label, BEFORE_END), 1.0)
            points.append((stop - 1, rate * (1 + before.further[1])))
        if inside.seen or self._tries_inside:
            rate = first.rate(label, INSIDE)
            if rate > least:
                position, share = self.law(label).best(start, stop)
                if position > start:
                    points.append((position, rate * share))

    def more(self, segment: Segment, place: int, returning: bool) -> float:
        """Return the uses to expect of an end of a known segment, to which a prompt may return."""
        returns = (segment.returns if place == END else segment.repeats) + returning
        if not returns:
            rate = self.first[segment.kind].rate(segment.label, place)
            return min(rate, 1.0) * (1 + self.returns[place].further[1])
        return self.returns[place].further[returns if returns < MOST else MOST]

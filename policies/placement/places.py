"""How often prompts return to a kind of place: an end, or the inside, of prompts or answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from policies.estimation.divergence import DivergenceLaw
from policies.estimation.reuse import ReuseRates
from policies.placement.sightings import KINDS

MOST: Final = 8  # returns to one point; more are counted as this many
LABEL_SAMPLES: Final = 8  # divergences before a label has a law of its own
CERTAIN: Final = 0.995  # the highest rate of one more return

Point = tuple[int, float]  # a position, and the uses to expect of it


class Returns:
    """How often one more return to a point follows each return to it.

    Parameters
    ----------
    rates
        The clock by which the counts decay.
    """

    def __init__(self, rates: ReuseRates) -> None:
        self._again = [rates.add() for _ in range(MOST + 1)]  # by the number of returns
        self._further = [1.0] * (MOST + 1)
        self._counted = False

    def count(self, before: int, useful: bool) -> None:
        """Count a return to a point to which `before` prompts have returned.

        One that the cache could not have served is not `useful`, and no use of the last one.
        """
        if before and useful:
            self._again[before if before < MOST else MOST].use()
        self._again[before + 1 if before < MOST else MOST].trial()
        self._counted = True

    def further(self, returns: int) -> float:
        """Return the uses still to be expected of a point after 1 or more returns."""
        return self._further[returns if returns < MOST else MOST]

    def refresh(self) -> None:
        """Compute anew what is to be expected, from all counts so far.

        With q_j the chance that return j is followed by another: q_j (1 + q_{j+1} (1 + ...)).
        """
        if not self._counted:
            return
        rates = [min(rate.rate(), CERTAIN) for rate in self._again]
        further = [0.0] * MOST + [rates[MOST] / (1 - rates[MOST])]
        for j in range(MOST - 1, 0, -1):
            further[j] = rates[j] * (1 + further[j + 1])
        self._further = further


class EndRates:
    """How often prompts return to the ends of prompts or of answers, by the kind of the segment.

    Parameters
    ----------
    rates
        The clock by which the counts decay.

    Attributes
    ----------
    seen
        Whether any prompt has returned.
    """

    def __init__(self, rates: ReuseRates) -> None:
        self._first = [rates.add() for _ in KINDS]
        self.returns = Returns(rates)
        self.seen = False

    def trial(self, kind: int, label: int) -> None:
        """Count an end that has come into being."""
        self._first[kind].trial(label)

    def use(self, kind: int, label: int, before: int, useful: bool) -> None:
        """Count a return to an end to which `before` prompts have returned."""
        if useful and not before:
            self._first[kind].use(label)
        self.returns.count(before, useful)
        self.seen = True

    def expected(self, kind: int, label: int, before: int) -> float:
        """Return the uses to expect of an end to which `before` prompts have returned."""
        if before:
            return self.returns.further(before)
        return min(self._first[kind].rate(label), 1.0) * (1 + self.returns.further(1))


class InsideRates:
    """How often, and where, prompts diverge inside prompts or inside answers.

    Parameters
    ----------
    rates
        The clock by which the counts decay.

    Attributes
    ----------
    seen
        Whether any prompt has diverged.
    branches
        How often more prompts diverge at one point.
    """

    def __init__(self, rates: ReuseRates) -> None:
        self._first = [rates.add() for _ in KINDS]
        self._law = DivergenceLaw()
        self._laws: defaultdict[int, DivergenceLaw] = defaultdict(DivergenceLaw)
        self.branches = Returns(rates)
        self.seen = False

    def trial(self, kind: int, label: int) -> None:
        """Count a prompt, or an answer, that has come into being."""
        self._first[kind].trial(label)

    def use(self, kind: int, label: int, start: int, stop: int, depth: int) -> None:
        """Count the first divergence, at `depth`, inside the tokens `(start, stop]`."""
        self.seen = True
        self._first[kind].use(label)
        self._law.observe(start, stop, depth)
        if label >= 0:
            self._laws[label].observe(start, stop, depth)

    def law(self, label: int) -> DivergenceLaw:
        """Return the law of a label, or that of all while the label has few divergences."""
        own = self._laws.get(label)
        return self._law if own is None or len(own) < LABEL_SAMPLES else own

    def add_first(
        self, points: list[Point], kind: int, label: int, start: int, stop: int, least: float
    ) -> None:
        """Add the point in `(start, stop)` where a first divergence is served best.

        Parameters
        ----------
        least
            The share of divergences above which it is of interest.
        """
        first = self._first[kind].rate(label)
        if first > least:
            position, share = self.law(label).best(start, stop)
            if position > start:
                points.append((position, first * share))

"""An estimator of births and deaths of depths, which the study of predictions measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import expm1

from policies.estimation.decay import FORGOTTEN, Decay

DEATHS = 0.003  # probability a request that a depth is never seen again
YOUNG = 40.0  # requests over which the visits to a new depth are spread at least
FARTHEST = 50.0  # exponents are cut here


@dataclass(slots=True)
class _Visits:
    """Visits to one depth: their decayed number at the last, and the requests of first and last."""

    count: float
    first: int
    last: int


class BirthsEstimator(Decay):
    """Weigh a depth by its rate since its first visit, if it is still in use.

    A depth that was first seen lately has a rate over the time since then, not over the whole
    memory; one that was not seen for long, measured by its rate, has probably gone. Visits are
    taken as a Poisson process that ends at random.

    Source: the Pareto/NBD model of Schmittlein, Morrison and Colombo 1987, Counting your customers.
    """

    def __init__(self, factor: float = 0.99) -> None:
        super().__init__(factor)
        self._visits: dict[int, _Visits] = {}
        self._requests = 0

    def _take(self, depth: int) -> None:
        super()._take(depth)
        self._requests += 1
        visits = self._visits.get(depth)
        if visits is None:
            self._visits[depth] = _Visits(1.0, self._requests, self._requests)
        else:
            faded = visits.count * self._factor ** (self._requests - visits.last)
            visits.count, visits.last = 1.0 + faded, self._requests

    def _weights(self) -> Mapping[int, float]:
        plain = super()._weights()
        self._visits = {depth: v for depth, v in self._visits.items() if depth in plain}
        weights = {depth: self._weight(v) for depth, v in self._visits.items() if depth}
        kept = {depth: weight for depth, weight in weights.items() if weight >= FORGOTTEN}
        return kept | {0: plain.get(0, 0.0) * (1 - self._factor)}

    def _weight(self, visits: _Visits) -> float:
        """Return the visits a request that are expected of a depth."""
        whole = 1 / (1 - self._factor)
        seen = (1 - self._factor ** (self._requests - visits.first)) * whole
        silence = self._requests - visits.last
        rate = visits.count * self._factor**silence / min(max(seen, YOUNG), whole)
        ends = visits.count / whole + DEATHS
        gone = DEATHS / ends * expm1(min(ends * silence, FARTHEST))
        return rate / (1 + gone)

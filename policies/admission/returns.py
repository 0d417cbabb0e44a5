"""Expected times until prompts resume at the places where states can lie."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from policies.orders.hazard import index_of
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap

_MOST_USES = 3  # more uses are counted as this many: two bits
_BINS = 16
_OLDEST = (1 << _BINS - 1) - 1  # requests after which a place is forgotten
_LEAST, _MOST = 32, 1024  # uses after which the rates are computed anew
_HALVING = 50_000
_SOMETIMES = 64  # requests between two searches for places to forget


class Returns:
    """Learns from all prompts, whatever was admitted, how soon a place can be expected to be used.

    A place is the end of a span, where a prompt or its answer ended or another prompt diverged. It
    is used by a prompt that diverges there: with a state at the place, that prompt would resume
    from it. Ages are in requests since the last use and fall into bins of doubling width. For each
    number of uses so far and each bin two counts are kept: places that reached that age, those
    still waiting included, and places used at that age. They start from one use in four, and are
    halved now and then. A place without a use for 2^15 requests is forgotten.

    Parameters
    ----------
    floor
        Floors a position to the grid. Ends with the same floored position are one place.

    Source: the rate is that of the `value` eviction, the greatest number of uses per request over
    all waits up to a later age (`policies.orders.hazard.index_of`, after J. C. Gittins, 1979).
    """

    def __init__(self, floor: Callable[[int], int]) -> None:
        self._floor = floor
        self._now = 0
        self._places: dict[KvSpan, int] = {}  # 4 x last use + uses; the oldest first
        kinds = range(_MOST_USES + 1)
        self._used = [[1.0] * _BINS for _ in kinds]
        self._ended = [[0.0] * (_BINS - 1) + [4.0] for _ in kinds]
        self._rates: list[list[float]] = []
        self._seen = self._due = 0
        self._learn()

    def __len__(self) -> int:
        return len(self._places)

    def observe(self, overlap: Overlap) -> None:
        """Note the place that a prompt has used, and those where it and its answer end."""
        self._now += 1
        if not self._now % _SOMETIMES:
            self._forget()
        span = overlap.span
        if span is None:
            return
        depth = overlap.depth
        while span.stop > depth:
            span = span.parent
        if span.stop:
            self._use(span)
        for end in (overlap.span, overlap.end):
            if end is not None and end not in self._places:
                self._places[end] = self._now << 2

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Move the place of `lower` to `upper`, if its floored position lies in that."""
        if lower in self._places and self._floor(lower.stop) <= upper.stop:
            # At the end, although it is older: so it is forgotten late, which is rare.
            self._places[upper] = self._places.pop(lower)

    def rate(self, span: KvSpan) -> float:
        """Return the uses per request that can be expected of the end of `span`."""
        place = self._places.get(span)
        if place is None:
            return 0.0
        age = self._now - (place >> 2)
        return 0.0 if age > _OLDEST else self._rates[place & 3][age.bit_length()]

    def _use(self, span: KvSpan) -> None:
        before = self._places.pop(span, None)
        uses = 0
        if before is not None:
            uses = before & 3
            age_bin = min(self._now - (before >> 2), _OLDEST).bit_length()
            self._used[uses][age_bin] += 1
            self._ended[uses][age_bin] += 1
            self._seen += 1
            if self._seen >= self._due:
                self._learn()
            uses = min(uses + 1, _MOST_USES)
        self._places[span] = self._now << 2 | uses

    def _learn(self) -> None:
        """Compute the rates from the counts."""
        self._due = self._seen + min(max(self._seen // 4, _LEAST), _MOST)
        if self._seen >= _HALVING:
            self._seen, self._due = self._seen // 2, self._due - self._seen // 2
            for table in (self._used, self._ended):
                for row in table:
                    row[:] = [count / 2 for count in row]
        counts = np.array(self._ended) + self._waiting()
        self._rates = [
            index_of(used, list(accumulate(reversed(row)))[::-1])
            for used, row in zip(self._used, counts.tolist(), strict=True)
        ]

    def _waiting(self) -> NDArray[np.int64]:
        """Return the number of waiting places, by uses so far and bin of ages; shape (4, bins)."""
        places = np.fromiter(self._places.values(), np.int64, len(self._places))
        bits = np.frexp(self._now - (places >> 2))[1]  # as int.bit_length gives them
        cells = (places & 3) * _BINS + np.minimum(bits, _BINS - 1)
        return np.bincount(cells, minlength=4 * _BINS).reshape(4, _BINS)

    def _forget(self) -> None:
        """Drop the places that are too old, and count them as ended."""
        places = self._places
        while places:
            oldest = next(iter(places))
            place = places[oldest]
            if self._now - (place >> 2) <= _OLDEST:
                return
            del places[oldest]
            self._ended[place & 3][_BINS - 1] += 1

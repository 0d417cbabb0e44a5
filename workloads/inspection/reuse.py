"""Reuse distances of prefixes, and the savings of LRU caches by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.law import Quantiles, known_quantiles
from workloads.inspection.overlaps import Int64
from workloads.inspection.uses import Uses

CURVE_POINTS = 100
CURVE_SPAN = 1e5  # ratio of the largest to the smallest capacity
SHARES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Reuse:
    """Distances between successive uses of the same token of a prefix, weighted by tokens.

    Parameters
    ----------
    hits
        Number of requests that overlap an earlier one.
    tokens_used_again
        Number of prompt tokens that were used before; all quantiles are over these.
    requests, seconds
        Distance to the previous use; seconds are None without times, both where there is no reuse.
    tokens
        Distinct tokens used since the previous use, including those reused together: the KV that
        an LRU cache must hold (the LRU stack distance).
    """

    hits: int
    tokens_used_again: int
    requests: Quantiles | None
    seconds: Quantiles | None
    tokens: Quantiles | None


@dataclass(frozen=True, slots=True)
class LruCurve:
    """Tokens saved by an LRU cache of KV with a state at every position, by cache size.

    Exact to the token for requests served one at a time; states need room in addition.

    Parameters
    ----------
    capacity_tokens, saved_tokens
        Points of the curve.
    tokens_for_share
        The smallest capacity that saves 50, 90 and 99 % of what an unbounded cache saves.
    """

    capacity_tokens: tuple[int, ...]
    saved_tokens: tuple[int, ...]
    tokens_for_share: dict[str, int]


def reuse(trace: Trace, used: Uses) -> Reuse:
    """Return the reuse distances of all prompt tokens that are used again."""
    again = used.again
    request, before, tokens = used.request[again], used.before[again], used.tokens[again]
    times = trace.arrival_seconds
    return Reuse(
        hits=len(np.unique(request)),
        tokens_used_again=int(tokens.sum()),
        requests=known_quantiles(request - before, tokens),
        seconds=None if times is None else known_quantiles(times[request] - times[before], tokens),
        tokens=known_quantiles(used.above[again] + tokens, tokens),
    )


def lru_curve(trace: Trace, used: Uses) -> LruCurve:
    """Return the savings of LRU caches by size; a prompt's last token is never saved."""
    saved = lru_savings(trace, used)
    most = saved.most
    wanted = np.geomspace(max(most / CURVE_SPAN, 1), max(most, 1), CURVE_POINTS)
    points = np.concatenate([[0], np.unique(wanted.round().astype(np.int64))])
    whole = int(saved(np.array([most]))[0])
    return LruCurve(
        capacity_tokens=tuple(points.tolist()),
        saved_tokens=tuple(saved(points).tolist()),
        tokens_for_share={f"{share:.0%}": saved.least(share * whole, most) for share in SHARES},
    )


def lru_savings(trace: Trace, used: Uses) -> Ramps:
    """Return the tokens that an LRU cache saves, as a function of its capacity in tokens."""
    again = used.again
    last = used.stop[again] == trace.prompt_tokens[used.request[again]]
    above = np.sort(used.above[again])
    return Ramps(above, np.sort((used.above + used.tokens)[again] - last))


class Ramps:
    """Sum of functions that rise linearly from 0 at `start` to `stop - start` at `stop`.

    `start` and `stop` are sorted arrays.
    """

    def __init__(self, start: Int64, stop: Int64) -> None:
        self._start, self._starts = start, np.concatenate([[0], np.cumsum(start)])
        self._stop, self._stops = stop, np.concatenate([[0], np.cumsum(stop)])

    @property
    def most(self) -> int:
        """The position from which the sum is constant; 0 for an empty sum."""
        return int(self._stop[-1]) if len(self._stop) else 0

    def __call__(self, at: Int64) -> Int64:
        """Return the sum of the functions at each of the positions `at`."""
        begun = np.searchsorted(self._start, at)
        ended = np.searchsorted(self._stop, at)
        height: NDArray[np.int64] = (begun - ended) * at - self._starts[begun] + self._stops[ended]
        return height

    def least(self, wanted: float, most: int) -> int:
        """Return the smallest position up to `most` at which the sum is at least `wanted`."""
        low, high = 0, most
        while low < high:
            middle = (low + high) // 2
            if self(np.array([middle]))[0] >= wanted:
                high = middle
            else:
                low = middle + 1
        return low

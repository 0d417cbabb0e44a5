"""Draws shared by the generators: lengths, ranks, counts, and sums along a session."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import NO_SESSION
from workloads.prefixes.numbering import number

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

Number = TypeVar("Number", np.int64, np.float64)

ANSWER_SECONDS_PER_TOKEN = 0.02  # decoding speed, where the next request waits for the answer


def lognormal_tokens(
    random: np.random.Generator, median: float, sigma: float, low: int, high: int, count: int
) -> Int64:
    """Draw whole lengths from a lognormal distribution, clipped to `low` and `high`."""
    drawn = median * np.exp(sigma * random.standard_normal(count))
    return np.clip(np.rint(drawn), low, high).astype(np.int64)


def pick(uniform: Float64, weights: Float64) -> Int64:
    """Map uniform numbers to indices whose probabilities are proportional to `weights`."""
    steps = np.cumsum(weights)
    at: Int64 = np.searchsorted(steps[:-1], uniform * steps[-1], side="right")
    return at


def geometric(random: np.random.Generator, mean: float, most: int, count: int) -> Int64:
    """Draw counts from a geometric distribution on 1, 2, ..., clipped to `most`."""
    return np.minimum(random.geometric(1 / mean, size=count), most).astype(np.int64)


def geometric_mean(mean: float, most: int) -> float:
    """Return the mean of draws of `geometric`, which is below `mean` due to the clipping."""
    return mean * (1 - (1 - 1 / mean) ** most)


def sum_before(values: NDArray[Number], begin: Int64, thread: Int64) -> NDArray[Number]:
    """Return, for each value, the sum of the earlier values of the same thread.

    Threads are concatenated; `begin` is the first index of each, `thread` the thread of each value.
    """
    before = np.cumsum(values, dtype=values.dtype) - values
    return before - before[begin][thread]


def by_first_sight(session: Int64) -> NDArray[np.int32]:
    """Renumber sessions in the order in which they first occur; -1 stays."""
    numbered = np.full(len(session), NO_SESSION, dtype=np.int32)
    known = session >= 0
    numbered[known] = number(session[known])[0]
    return numbered

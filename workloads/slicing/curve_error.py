"""Error of a sample's LRU hit rates against those of the whole trace, at every cache size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.inspection.reuse import lru_curve, lru_savings
from workloads.inspection.uses import uses

Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Misses:
    """Absolute differences of two curves of token hit rates, in percentage points.

    Parameters
    ----------
    mean_points, most_points
        Mean and maximum over the capacities.
    most_at_tokens
        Capacity at which the maximum occurs.
    """

    mean_points: float
    most_points: float
    most_at_tokens: int


@dataclass(frozen=True, slots=True)
class CurveError:
    """The LRU hit rate curves of a sample and of the whole trace.

    Parameters
    ----------
    capacity_tokens
        Capacities of the cache for the whole; the sample's cache has `share` of each.
    whole, sample, adjusted
        Token hit rates; `adjusted` are those of the sample after the SHARDS-adj correction.
    plain, corrected
        Differences of `sample` and of `adjusted` from the whole.
    """

    capacity_tokens: tuple[int, ...]
    whole: tuple[float, ...]
    sample: tuple[float, ...]
    adjusted: tuple[float, ...]
    plain: Misses
    corrected: Misses


def curve_error(whole: Trace, part: Trace, share: float) -> CurveError:
    """Compare the curves at 100 capacities, spread evenly on a logarithmic scale.

    The sample's prompt tokens differ from the expected `share` of all, mostly because too few or
    too many of the most used prefixes are in it. The correction (SHARDS-adj) counts the missing
    tokens as hits at every capacity.
    """
    used, of_part = uses(whole), uses(part)
    capacity = np.array(lru_curve(whole, used).capacity_tokens[1:] or (1,), dtype=np.int64)
    total, held = int(whole.prompt_tokens.sum()), int(part.prompt_tokens.sum())
    rates = lru_savings(whole, used)(capacity) / total
    saved = lru_savings(part, of_part)(np.rint(capacity * share).astype(np.int64))
    expected = share * total
    adjusted = np.clip((saved + expected - held) / expected, 0.0, 1.0)
    return CurveError(
        capacity_tokens=tuple(capacity.tolist()),
        whole=tuple(rates.tolist()),
        sample=tuple((saved / held).tolist()),
        adjusted=tuple(adjusted.tolist()),
        plain=_misses(capacity, rates, saved / held),
        corrected=_misses(capacity, rates, adjusted),
    )


def _misses(capacity: NDArray[np.int64], whole: Float64, sample: Float64) -> Misses:
    apart = 100 * np.abs(whole - sample)
    worst = int(apart.argmax())
    return Misses(float(apart.mean()), float(apart[worst]), int(capacity[worst]))

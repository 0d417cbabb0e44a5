"""Ranks of policies over several places (workload and capacity), bounds and agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from reports.statistics.estimate import SIGNIFICANCE
from reports.statistics.intervals import holm
from reports.statistics.joint import Joint

Floats = NDArray[np.float64]
MOST_ARRANGEMENTS = 20_000  # more are sampled
SAMPLED = 9_999
_ROUNDING = 1e-9


def ranks(values: Floats) -> Floats:
    """Return the rank of each value in its row: 1 is the highest, equal ones share the mean."""
    from scipy.stats import rankdata

    ranked: Floats = rankdata(-values, axis=-1)
    return ranked


def rank_bounds(places: Sequence[Joint]) -> tuple[Floats, Floats, int]:
    """Return the least and the greatest rank that each policy may truly have at each place.

    A policy is below those that are surely above it and above those that are surely below it.
    "Surely" is by Holm's correction for all pairs at all places, so that every bound holds at
    once with a probability of at least 95 %.

    Returns
    -------
    Two float64 of shape (places, policies), and how many pairs were compared.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility
    across neighbourhoods and academic achievement across countries", section 3.
    """
    count = len(places[0].values)
    above = np.triu_indices(count, 1)
    raw = [place.p_values()[above] for place in places]
    tested = [~np.isnan(p_values) for p_values in raw]
    all_tested = np.concatenate([p[t] for p, t in zip(raw, tested, strict=True)])
    pooled = np.asarray(holm(all_tested.tolist()), dtype=np.float64)
    low, high = np.ones((len(places), count)), np.full((len(places), count), float(count))
    start = 0
    for row, (place, mask) in enumerate(zip(places, tested, strict=True)):
        sure = np.zeros((count, count), dtype=bool)
        sure[above[0][mask], above[1][mask]] = pooled[start : start + mask.sum()] < SIGNIFICANCE
        sure |= sure.T
        start += int(mask.sum())
        higher = place.values[:, None] > place.values[None, :]
        low[row] += (sure & ~higher).sum(axis=1)
        high[row] -= (sure & higher).sum(axis=1)
    return low, high, start


def agreement(rows: Floats) -> tuple[float, float | None]:
    """Return how far workloads agree on the order of policies, and the p-value of no agreement.

    Parameters
    ----------
    rows
        float64 of shape (workloads, policies): the (mean) ranks in each workload.

    Returns
    -------
    Kendall's W: 1 where all workloads have the same order, 0 where their orders cancel. The
    p-value is that of Friedman's test by permutation, exact where there are few arrangements: how
    likely so much agreement is where each workload orders the policies at random. None for one
    workload, which agrees with itself.

    References
    ----------
    Friedman (1937), "The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance"; Kendall and Babington Smith (1939), "The problem of m rankings".
    """
    centred = rows - rows.mean(axis=1, keepdims=True)
    within = float(np.square(centred).sum(axis=1).mean())
    if not within:
        return 0.0, None
    spread = float(np.square(centred.mean(axis=0)).sum())
    return spread / within, _p_value(centred, spread) if len(rows) > 1 else None


def _p_value(centred: Floats, spread: float) -> float:
    """Return the share of arrangements, each row shuffled on its own, that agree as much."""
    workloads, count = centred.shape
    exact = math.factorial(min(count, 20)) ** (workloads - 1) <= MOST_ARRANGEMENTS
    drawn = _all_sums(centred) if exact else _sampled_sums(centred)
    sums = np.concatenate(list(drawn)) / workloads
    as_much = np.square(sums).sum(axis=1) >= spread * (1 - _ROUNDING)
    return float(as_much.mean()) if exact else float((as_much.sum() + 1) / (len(as_much) + 1))


def _all_sums(centred: Floats) -> Iterator[Floats]:
    """Yield the sums of columns for every arrangement; that of the first row may stay."""
    orders = np.array(list(permutations(range(centred.shape[1]))))
    for chosen in product(range(len(orders)), repeat=len(centred) - 2):
        fixed = centred[0].copy()
        for row, order in zip(centred[1:-1], chosen, strict=True):
            fixed += row[orders[order]]
        yield fixed + centred[-1][orders]


def _sampled_sums(centred: Floats) -> Iterator[Floats]:
    """Yield the sums of columns for arrangements drawn at random, the same in every call."""
    generator = np.random.default_rng(np.random.SeedSequence(0))
    shape = (SAMPLED, centred.shape[1])
    yield sum(
        (generator.permuted(np.broadcast_to(row, shape), axis=1) for row in centred[1:]),
        start=np.broadcast_to(centred[0], shape),
    )

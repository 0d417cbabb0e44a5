"""The ranks of policies over all workloads and capacities of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.results.evidence import Metric, joint
from reports.results.points import Series, WorldPoints
from reports.statistics import Joint, agreement, rank_bounds, ranks

Place = tuple[WorldPoints, str]  # a world and a capacity


@dataclass(frozen=True, slots=True)
class RankedCombination:
    """One combination of policies."""

    series: Series
    rank: float  # mean over workloads of the mean over their places; 1 is the best
    # bounds of the true mean rank, for these workloads
    low: float
    high: float
    by_world: dict[str, float]  # the mean over capacities in each world, by its name


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks by one metric, the best first."""

    metric: Metric
    # best first; of equals the one that the study names first
    ranked: tuple[RankedCombination, ...]
    places: int  # worlds times capacities at which all of them finished
    workloads: int  # how many different ones they served
    pairs: int  # comparisons that the bounds are corrected for
    agreement: float  # Kendall's W between workloads
    p_value: float | None  # of so much agreement by chance; None of one workload
    left_out: tuple[str, ...]  # combinations that did not finish everywhere


def ranking(worlds: Sequence[WorldPoints], metric: Metric) -> Ranking | None:
    """Return the ranks of all policies except bounds and those with foresight.

    None where fewer than two combinations finished in every world at every capacity.
    """
    everyone = list(dict.fromkeys(s for world in worlds for s in world.series if not s.marks))
    places = [(world, capacity) for world in worlds for capacity in world.capacities]
    present = [s for s in everyone if all(_has(place, s, metric) for place in places)]
    if len(present) < 2:
        return None
    joints = [_joint(place, present, metric) for place in places]
    known = [(place, each) for place, each in zip(places, joints, strict=True) if each is not None]
    if not known:
        return None
    left_out = tuple(s.label for s in everyone if s not in present)
    return _ranking(metric, present, [p for p, _ in known], [j for _, j in known], left_out)


def _has(place: Place, series: Series, metric: Metric) -> bool:
    world, capacity = place
    point = world.points.get((series.name, capacity))
    return point is not None and getattr(point, metric) is not None


def _joint(place: Place, series: Sequence[Series], metric: Metric) -> Joint | None:
    """Return the joint evidence at one place, oriented so that higher values are better."""
    world, capacity = place
    points = [world.points[each.name, capacity] for each in series]
    evidence = joint([point.rows for point in points], metric, points[0].deterministic)
    if evidence is None or metric == "token_hit_rate":
        return evidence
    return evidence.opposite


def _ranking(
    metric: Metric,
    series: Sequence[Series],
    places: Sequence[Place],
    evidence: Sequence[Joint],
    left_out: tuple[str, ...],
) -> Ranking:
    own_ranks = np.array([ranks(each.values) for each in evidence])
    low, high, pairs = rank_bounds(evidence)
    workloads = [world.workload for world, _ in places]
    rows = _means(own_ranks, workloads)
    mean, least, most = (_means(each, workloads).mean(axis=0) for each in (own_ranks, low, high))
    names = [world.name for world, _ in places]
    by_world = dict(zip(dict.fromkeys(names), _means(own_ranks, names), strict=True))
    ranked = [
        RankedCombination(
            each,
            float(mean[column]),
            float(least[column]),
            float(most[column]),
            {name: float(row[column]) for name, row in by_world.items()},
        )
        for column, each in enumerate(series)
    ]
    ranked.sort(key=lambda each: each.rank)  # stable
    return Ranking(metric, tuple(ranked), len(places), len(rows), pairs, *agreement(rows), left_out)


def _means(rows: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the mean of the rows of each name, in the order of the names."""
    picked = np.array(names)
    return np.array([rows[picked == name].mean(axis=0) for name in dict.fromkeys(names)])

"""Overview of a study: ranks, and shares of what foresight saves more than the baseline.

"Room" is what foresight saves more than the baseline; a policy reaches a share of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.cross_workload.ranking import Ranking, ranking
from reports.results.comparison import differences
from reports.results.evidence import Metric, share_of_room
from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND
from reports.results.points import Point, WorldPoints
from reports.statistics import Estimate

METRICS: tuple[Metric, ...] = ("token_hit_rate", "ttft_seconds")


@dataclass(frozen=True, slots=True)
class Taken:
    """The share of the room that one combination of policies reaches at one place."""

    # the place, and the names of the three series
    world: str
    capacity: str
    policy: str
    baseline: str
    foresight: str
    room: Estimate  # token hit rate of foresight less that of the baseline
    share: Estimate | None  # of that room; None where the room is not surely more than nothing


@dataclass(frozen=True, slots=True)
class Overview:
    """A study as a whole.

    Parameters
    ----------
    rankings
        By token hit rate, and by mean TTFT; none where there is nothing to rank.
    taken
        Shares of what foresight saves more than the baseline.
    comparisons
        Differences with something to test, all corrected for each other.
    standing
        How many of them are significant after Holm's correction.
    verdicts
        How many of them are better, worse, tied and unsure.
    """

    rankings: tuple[Ranking, ...]
    taken: tuple[Taken, ...]
    comparisons: int
    standing: int
    verdicts: Mapping[str, int]


def overview_of(worlds: Sequence[WorldPoints]) -> Overview:
    """Return the overview of a study, from its worlds (workload, profile and server)."""
    rankings = [ranking(worlds, metric) for metric in METRICS]
    tested = [each for each in differences(worlds) if each is not None and each.tested]
    return Overview(
        tuple(each for each in rankings if each is not None),
        tuple(taken(worlds)),
        len(tested),
        sum(each.stands for each in tested),
        Counter(each.verdict for each in tested),
    )


def taken(worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return the shares of all competitors except the baseline, where a policy has foresight."""
    return [
        each for world in worlds for capacity in world.capacities for each in _at(world, capacity)
    ]


def foresight_at(world: WorldPoints, capacity: str) -> Point | None:
    """Return the best policy with foresight within the memory limit; None where there is none."""
    seers = [
        point
        for point in world.at(capacity)
        if LOOKS_AHEAD in point.series.marks
        and UPPER_BOUND not in point.series.marks
        and point.token_hit_rate is not None
    ]
    return max(seers, key=lambda p: p.token_hit_rate.value if p.token_hit_rate else 0, default=None)


def _at(world: WorldPoints, capacity: str) -> list[Taken]:
    top = foresight_at(world, capacity)
    if top is None:
        return []
    shares = []
    for point in world.at(capacity):
        base = world.baseline_of(point)
        if point.series.marks or base is None or base.series.marks:
            continue
        room = top.less(base, "token_hit_rate")
        if room is not None and point.token_hit_rate is not None:
            shares.append(_taken(world, point, base, top, room))
    return shares


def _taken(world: WorldPoints, point: Point, base: Point, top: Point, room: Estimate) -> Taken:
    share = None
    if room.value > 0 and not room.covers_zero:
        share = share_of_room(point.rows, base.rows, top.rows, point.deterministic)
    names = point.series.name, base.series.name, top.series.name
    return Taken(world.name, point.capacity, *names, room, share)

"""How much of the room between the baseline and foresight each combination takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.results.evidence import share_of_room
from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND
from reports.results.points import Point, WorldPoints
from reports.statistics import Estimate


@dataclass(frozen=True, slots=True)
class Taken:
    """What one combination takes of the room at one place."""

    # the place, and the names of the three series
    world: str
    capacity: str
    policy: str
    baseline: str
    foresight: str
    room: Estimate  # token hit rate of foresight less that of the baseline
    share: Estimate | None  # of that room; None where the room is not surely more than nothing


def taken(worlds: Sequence[WorldPoints]) -> list[Taken]:
    """Return the shares of all that competes and is no baseline, where something looks ahead."""
    return [
        each for world in worlds for capacity in world.capacities for each in _at(world, capacity)
    ]


def foresight_at(world: WorldPoints, capacity: str) -> Point | None:
    """Return the best of what looks ahead and keeps to the memory; None where nothing does."""
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

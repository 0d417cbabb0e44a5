"""States of one kind and weight."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from policies.orders.life import Life, Place


class Group:
    """States of one kind and weight, by last use."""

    __slots__ = (
        "bound",
        "first_young",
        "holds",
        "index",
        "limit",
        "low",
        "lows",
        "places",
        "serial",
        "until",
        "weight",
    )

    def __init__(
        self,
        serial: int,
        weight: float,
        index: list[float],
        lows: list[float],
        holds: list[int],
    ) -> None:
        self.serial, self.weight = serial, weight
        self.index, self.lows, self.holds = index, lows, holds
        self.places: deque[Place] = deque()  # ascending, outdated ones among them
        self.first_young = (0, 0)  # of the places with its last use, those before it are outdated
        self.limit = 64
        self.low = 0.0  # a lower bound of the index of its states
        self.until = 0  # the request at which the bound expires
        self.bound: Bound | None = None  # None where there is no state

    def compact(self) -> None:
        """Drop outdated places, if they may be more than half."""
        places = self.places
        if len(places) > self.limit:
            standing = [place for place in places if place[2].time == place[1]]
            places.clear()
            places.extend(standing)
            self.limit = 2 * len(places) + 64


Bound = tuple[float, int, Group]  # least worth, serial of the group, group


def oldest_of(places: deque[Place]) -> Life | None:
    """Return the first evictable state; states before it lose their places."""
    while places:
        _, time, life = places[0]
        if life.time == time:
            if not life.entry.pins:
                return life
            life.time = 0
        places.popleft()
    return None


def youngest_of(group: Group) -> Life:
    """Return the evictable state with the latest last use, the first of several."""
    places = group.places
    while True:
        last, time, life = places[-1]
        if life.time == time:
            if not life.entry.pins:
                break
            life.time = 0
        places.pop()
    if len(places) > 1 and places[-2][0] == last:
        start = group.first_young if group.first_young[0] == last else (last,)
        index = bisect_left(places, start)
        while places[index][2].time != places[index][1]:
            index += 1
        group.first_young = places[index][:2]
        for at in range(index, len(places) - 1):
            _, time, other = places[at]
            if other.time == time and not other.entry.pins:
                return other
    return life

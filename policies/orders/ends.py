"""States of groups in the order in which they would be evicted, found without any change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush, heapreplace, merge
from itertools import groupby
from operator import itemgetter

from policies.orders.group import Group
from policies.orders.life import Life, Place
from simulator.plugins.entries import Checkpoint, Entry

_last_use = itemgetter(0)


class Ends:
    """The oldest and the youngest state of a group, where some are supposed to have left.

    Parameters
    ----------
    group
        The group; some of its places may be outdated.
    coming
        Places in it that states waiting for one would get.
    moved
        States whose present places in any group count as outdated.
    """

    __slots__ = ("_group", "_old", "_oldest", "_young", "_youngest")

    def __init__(self, group: Group, coming: list[Place], moved: Collection[Life]) -> None:
        self._group = group
        places = group.places
        old, young = _standing(places, moved), _standing(reversed(places), moved)
        if coming:
            coming.sort()
            old, young = merge(old, coming), merge(young, reversed(coming), reverse=True)
        self._old, self._young = iter(old), _first_of_equals(young)
        self._oldest = next(self._old, None)
        self._youngest = next(self._young, None)

    def least(self, now: int, evictable: Callable[[Entry], bool]) -> _Least | None:
        """Return the evictable state of least worth; None if there is none."""
        while self._oldest is not None and not evictable(self._oldest[2].entry):
            self._oldest = next(self._old, None)
        while self._youngest is not None and not evictable(self._youngest[2].entry):
            self._youngest = next(self._young, None)
        if self._oldest is None or self._youngest is None:
            return None
        (last, _, life), (young_last, _, young) = self._oldest, self._youngest
        group = self._group
        worth = group.index[(now - last).bit_length()]
        young_worth = group.index[(now - young_last).bit_length()]
        if young_worth < worth:
            life, last, worth = young, young_last, young_worth
        return worth * group.weight, last, group.serial, life.entry, self


_Least = tuple[float, int, int, Checkpoint, Ends]  # worth, last use, serial; the state, its group


def in_order(
    known: list[Ends],
    rest: Iterator[tuple[float, Group]],
    look_into: Callable[[Group], Ends],
    now: int,
    evictable: Callable[[Entry], bool],
) -> Iterator[Checkpoint]:
    """Yield states by worth at request `now`, each as if those before had left.

    Parameters
    ----------
    known
        Groups that are examined at once.
    rest
        Other groups with a lower bound of their worth, ascending.
    look_into
        Called to examine such a group, when it may have the least.
    now
        The request.
    evictable
        Says whether a state could be evicted when those yielded have left.
    """
    heads = [least for ends in known if (least := ends.least(now, evictable)) is not None]
    heapify(heads)
    bound = next(rest, None)
    while heads or bound is not None:
        if bound is not None and (not heads or bound[0] <= heads[0][0]):
            least = look_into(bound[1]).least(now, evictable)
            if least is not None:
                heappush(heads, least)
            bound = next(rest, None)
            continue
        *_, state, ends = heads[0]
        if evictable(state):
            yield state
        least = ends.least(now, evictable)
        if least is None:
            heappop(heads)
        else:
            heapreplace(heads, least)


def _standing(places: Iterable[Place], moved: Collection[Life]) -> Iterator[Place]:
    return (place for place in places if place[2].time == place[1] and place[2] not in moved)


def _first_of_equals(descending: Iterable[Place]) -> Iterator[Place]:
    """Yield places by last use, the latest first; those of one last use in the order given."""
    for _, equal in groupby(descending, _last_use):
        yield from reversed([*equal])

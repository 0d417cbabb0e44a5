"""States in the order in which they would go, found without changing anything."""

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
    """The oldest and the youngest of a group of states, of which some are supposed to have gone.

    Parameters
    ----------
    group
        The group; some of its places may be outdated.
    coming
        Places that are still to be given in it.
    moved
        States whose places in any group are outdated for that.
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
        """Return the least of what could go; None if there is nothing."""
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


_Least = tuple[float, int, int, Checkpoint, Ends]  # worth, last use, serial; the state, whence


def in_order(
    known: list[Ends],
    rest: Iterator[tuple[float, Group]],
    look_into: Callable[[Group], Ends],
    now: int,
    evictable: Callable[[Entry], bool],
) -> Iterator[Checkpoint]:
    """Yield the states of least worth at request `now`, each when those before have gone.

    Parameters
    ----------
    known
        Groups that are looked into at once.
    rest
        Other groups, by a bound of what they are worth, ascending.
    look_into
        Called when one of those may have the least.
    now
        The request.
    evictable
        Says whether a state could go when those that were yielded have gone.
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
    """Yield places by last use, the latest first; of several with one last use the first given."""
    for _, equal in groupby(descending, _last_use):
        yield from reversed([*equal])

"""The state of least worth, among groups of states that are each ordered by last use."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

from policies.orders.ends import Ends, in_order
from policies.orders.group import Bound, Group, oldest_of, youngest_of
from policies.orders.hazard import Hazard
from policies.orders.heaps import in_order as items_of
from policies.orders.life import Life, Place
from simulator.plugins.entries import Checkpoint, Entry

_Least = tuple[float, int, int, Life]  # worth, last use, serial of the group, state
_RENEWAL = 4096  # states put between two removals of outdated places


class Groups:
    """Finds the state whose index, times the weight of its group, is least.

    A group holds states of one kind and one weight. The index of a kind rises with age up to the
    age at which most are used, then falls, so that the least of a group is its oldest or its
    youngest. For each group a lower bound is kept, by the age of its oldest; it holds, whatever
    comes or leaves, until the oldest reaches an age of lesser index. So a decision examines only
    the one or two groups whose bounds are least, however many states and groups there are.

    Parameters
    ----------
    hazard
        Gives the index by kind and age.
    step
        Binary logarithm of the factor between two weights.
    """

    def __init__(self, hazard: Hazard, step: float) -> None:
        self._hazard = hazard
        self._step = step
        self._groups: dict[tuple[int, int], Group] = {}
        self._bounds: list[Bound] = []  # a heap, outdated ones among them
        self._due: list[tuple[int, int, Group]] = []  # when they expire: a heap as well
        self._clock = 0
        self._renewal = _RENEWAL
        self._learned = 0

    def put(self, life: Life, now: int) -> None:
        """Put a state into the group of its kind and weight, unless it is there."""
        key = life.kind, life.steps
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(len(self._groups), *self._measure(key))
        if life.time and life.places is group.places:
            return
        self._clock = time = self._clock + 1
        life.time = time
        life.places = places = group.places
        last = life.last
        if group.bound is None or last < places[-1][0]:
            insort(places, (last, time, life))
            self._bound(group, now)
        else:
            places.append((last, time, life))

    def least(self, now: int) -> Checkpoint | None:
        """Return the evictable state of least worth at request `now`, the oldest among equals."""
        self._renew(now)
        bounds = self._bounds
        best: _Least | None = None
        looked = []
        while bounds and (best is None or bounds[0][0] <= best[0]):
            bound = heappop(bounds)
            group = bound[2]
            if group.bound is bound and (candidate := self._look(group, now)) is not None:
                looked.append(bound)
                if best is None or candidate < best:
                    best = candidate
        for bound in looked:
            heappush(bounds, bound)
        return None if best is None else best[3].entry

    def in_order(
        self, waiting: Iterable[tuple[Life, int]], now: int, evictable: Callable[[Entry], bool]
    ) -> Iterator[Checkpoint]:
        """Yield the states that `least` would return, each as if those before had left.

        Nothing changes.

        Parameters
        ----------
        waiting
            States that would be put into groups first, with the steps of their weights.
        now
            The request.
        evictable
            Says whether a state could be evicted when those yielded have left.
        """
        self._renew(now)
        coming = self._coming(waiting)
        moved = {life for places in coming.values() for *_, life in places}
        groups, known, ends = self._groups, set(), []
        for new, (key, places) in enumerate(coming.items()):
            group = groups.get(key) or Group(len(groups) + new, *self._measure(key))
            known.add(group.serial)
            ends.append(Ends(group, places, moved))
        rest = (
            (bound[0], bound[2])
            for bound in items_of(self._bounds)
            if bound[2].bound is bound and bound[1] not in known
        )
        yield from in_order(ends, rest, lambda group: Ends(group, [], moved), now, evictable)

    def _coming(self, waiting: Iterable[tuple[Life, int]]) -> dict[tuple[int, int], list[Place]]:
        """Return the places that waiting states would get, by group."""
        coming: dict[tuple[int, int], list[Place]] = {}
        clock = self._clock
        for life, steps in waiting:
            key = life.kind, steps
            group = self._groups.get(key)
            if not life.time or group is None or life.places is not group.places:
                clock += 1
                coming.setdefault(key, []).append((life.last, clock, life))
        return coming

    def _measure(self, key: tuple[int, int]) -> tuple[float, list[float], list[float], list[int]]:
        """Return the weight of a group, and the index of its kind with its bounds."""
        kind, steps = key
        hazard, weight = self._hazard, 2.0 ** (steps * self._step)
        return weight, hazard.index[kind], hazard.lows[kind], hazard.holds[kind]

    def _renew(self, now: int) -> None:
        """Compute expired bounds anew; no decision depends on when that is done."""
        due = self._due
        if self._learned != self._hazard.learned or self._clock > self._renewal:
            self._start_over(now)
        while due and due[0][0] <= now:
            until, _, group = heappop(due)
            if group.until == until:
                self._bound(group, now)

    def _start_over(self, now: int) -> None:
        """Compute all bounds anew, and drop outdated places."""
        self._learned = self._hazard.learned
        self._renewal = self._clock + _RENEWAL
        self._bounds.clear()
        self._due.clear()
        for group in self._groups.values():
            group.compact()
            self._bound(group, now)

    def _bound(self, group: Group, now: int) -> None:
        """Compute the lower bound of the worth of a group."""
        places = group.places
        while places and places[0][2].time != places[0][1]:
            places.popleft()
        if not places:
            group.bound = None
            return
        oldest = places[0][0]
        age_bin = (now - oldest).bit_length()
        group.low = low = group.lows[age_bin]
        group.until = until = oldest + group.holds[age_bin]
        group.bound = bound = (low * group.weight, group.serial, group)
        heappush(self._bounds, bound)
        heappush(self._due, (until, group.serial, group))

    def _look(self, group: Group, now: int) -> _Least | None:
        """Return the least state of a group; None if none is evictable, or its bound has risen."""
        places = group.places
        life = oldest_of(places)
        if life is None:
            group.bound = None
            return None
        age_bin = (now - life.last).bit_length()
        worth, low = group.index[age_bin], group.lows[age_bin]
        if low > group.low:
            self._bound(group, now)
            return None
        if low < worth:
            young = youngest_of(group)
            young_worth = group.index[(now - young.last).bit_length()]
            if young_worth < worth:
                return young_worth * group.weight, young.last, group.serial, young
        return worth * group.weight, life.last, group.serial, life

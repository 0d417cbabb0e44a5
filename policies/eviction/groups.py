"""The entry of least index, among groups of which each is kept by last use."""

from __future__ import annotations

from heapq import heapify, heappush
from operator import attrgetter

from policies.eviction.hazard import Hazard
from policies.eviction.places import Place, head
from simulator.entry import Checkpoint, Entry

_NEVER = 1 << 62
_NO_ENTRY = (float("inf"), 0)
_until, _order = attrgetter("until"), attrgetter("order")


class Groups:
    """Finds the entry whose index, times the weight of its group, is least.

    A group holds entries of one kind and one weight. The index of a kind rises with age up to when
    most are used, then falls, so that the least of a group is its oldest or its youngest. Each
    group remembers that until an entry comes or goes, or grows into the next bin of ages: a
    decision compares a few dozen numbers, however many entries there are.

    Parameters
    ----------
    hazard
        Gives the index by kind and age.
    """

    def __init__(self, hazard: Hazard) -> None:
        self._hazard = hazard
        self._groups: dict[tuple[int, float], _Group] = {}
        self._clock = 0
        self._learned = 0

    def put(self, entry: Checkpoint, kind: int, weight: float, last: int) -> None:
        """Give an entry that was last used by request `last` its place, unless it is there.

        One whose last use is another than before must not be `queued`.
        """
        group = self._groups.get((kind, weight))
        if group is None:
            group = self._groups[kind, weight] = _Group(weight, self._hazard.index[kind])
        before = entry.rank
        if before:
            if before is group and entry.queued:
                return
            before.until = -1
        self._clock = clock = self._clock + 1
        entry.policy_data = clock
        entry.queued = True
        entry.rank = group
        group.put(last, clock, entry)

    def drop(self, entry: Checkpoint) -> None:
        """Take an entry out."""
        entry.policy_data = None
        if entry.rank:
            entry.rank.until = -1
            entry.rank = 0

    def least(self, now: int) -> Entry | None:
        """Return the evictable entry of least worth at request `now`, the oldest among equals."""
        groups = self._groups.values()
        if self._learned != self._hazard.learned:
            self._learned = self._hazard.learned
            for group in groups:
                group.until = -1
        while groups:
            if min(map(_until, groups)) <= now:
                for group in groups:
                    if group.until <= now:
                        group.look(now)
            best = min(groups, key=_order)
            entry: Entry | None = best.entry
            if entry is None or entry.evictable:
                return entry
            best.until = -1  # it is in use now
        return None


class _Group:
    """Entries of one kind and weight, from both ends."""

    __slots__ = ("entry", "index", "limit", "oldest", "order", "until", "weight", "youngest")

    def __init__(self, weight: float, index: list[float]) -> None:
        self.weight, self.index = weight, index
        self.oldest: list[Place] = []
        self.youngest: list[Place] = []
        self.limit = 64
        self.until = -1  # the request at which the following are out of date
        self.entry: Entry | None = None  # the least
        self.order = _NO_ENTRY  # its worth and last use

    def put(self, last: int, clock: int, entry: Checkpoint) -> None:
        """Take in an entry, with the time at which it came."""
        heappush(self.oldest, (last, clock, entry))
        heappush(self.youngest, (-last, clock, entry))
        self.until = -1
        if len(self.oldest) > self.limit or len(self.youngest) > self.limit:
            self._compact()

    def look(self, now: int) -> None:
        """Find the evictable entry of least worth."""
        entry = head(self.oldest)
        if entry is None:
            self.entry, self.order, self.until = None, _NO_ENTRY, _NEVER
            return
        last = self.oldest[0][0]
        age_bin = (now - last).bit_length()
        worth, until = self.index[age_bin], last + (1 << age_bin)
        young = head(self.youngest)
        youngest = -self.youngest[0][0]
        age_bin = (now - youngest).bit_length()
        if self.index[age_bin] < worth:
            entry, last, worth = young, youngest, self.index[age_bin]
        self.entry, self.order = entry, (worth * self.weight, last)
        self.until = min(until, youngest + (1 << age_bin))

    def _compact(self) -> None:
        """Drop what is outdated, so that both are at most twice as long as they need be."""
        for heap in (self.oldest, self.youngest):
            heap[:] = [place for place in heap if place[2].policy_data == place[1]]
            heapify(heap)
        self.limit = 2 * max(len(self.oldest), len(self.youngest)) + 64

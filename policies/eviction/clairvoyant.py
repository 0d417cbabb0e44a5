"""Farthest next use among prefixes, by one who may refuse what comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from policies.eviction.prefixed import Scored
from policies.foresight import NEVER, Foresight
from simulator.plugins.context import World
from simulator.plugins.entries import Entry, KvRun
from simulator.plugins.protocols import Overlap


class Clairvoyant(Scored):
    """Evict what is used farthest in the future, and refuse what is used later still. Looks ahead.

    Unlike `belady` it takes no new KV or state in exchange for what is used sooner. Sizes count
    where that decision is made: it goes page by page, so a long run enters as far as it is worth
    what leaves for it. KV below other KV leaves first, and among entries that are never used
    again the youngest does, so that what remains is a prefix.

    Where states cost nothing this is the optimum of block caches that keep prefixes closed. A
    state and the KV above it are worth little without each other, which it does not weigh: it is
    no upper bound for a hybrid model.

    Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
    IBM Systems Journal 5(2), 1966, over a prefix tree.
    """

    clairvoyant: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._foresight: Foresight | None = None
        self._number = -1
        self._end_use = -1  # next use of the deepest run that comes in
        self._incoming: list[KvRun] = []  # the runs that are not whole yet, deepest first
        self._one_by_one = False

    def begin(self, world: World) -> None:
        """Read the trace."""
        super().begin(world)
        if world.trace is not None:
            self._foresight = Foresight(world.trace)

    def observe(self, overlap: Overlap) -> None:
        """Look up what this request brings, and when that is used next."""
        self.request = overlap
        self._number = overlap.request
        self._incoming.clear()
        run = overlap.run
        while run is not None and run.kv_end < run.stop:
            self._incoming.append(run)
            run = run.parent
        self._end_use = self._next_use(self._incoming[0]) if self._incoming else -1
        self._one_by_one = self._exceeds_capacity()

    def on_insert(self, entry: Entry) -> None:
        """Look up when it is used next."""
        node = entry.node if isinstance(entry, KvRun) else entry.run.node
        self.place(entry, (-self._next_use(entry), -node))

    def on_hit(self, entry: Entry) -> None:
        """Look up when it is used next after this."""
        self.on_insert(entry)

    def victim(self) -> Entry | None:
        """Return the evictable entry whose next use is farthest; None if the newcomer's is."""
        entry = super().victim()
        if entry is not None and -entry.rank[0] > self._incoming_use():
            return entry
        self._one_by_one = True
        return None

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, up to what is used sooner than the newcomer."""
        one_by_one = self._one_by_one
        incoming_use = self._incoming_use()
        self._one_by_one = one_by_one  # as if it had not been looked at
        for entry in super().victims():
            if -entry.rank[0] <= incoming_use:
                return
            yield entry

    def _incoming_use(self) -> int:
        """Return when what comes in now is used next.

        Room is first asked for all that a request brings: its deepest run is used last. Where
        that is too much, the runs come one by one from the top, each pinned while it grows, and
        each followed by its states.
        """
        incoming = self._incoming
        while len(incoming) > 1 and incoming[-1].kv_end == incoming[-1].stop:
            incoming.pop()
        if not incoming:
            return self._end_use
        run = incoming[-1]
        if run.pins and run.kv_end == run.start:
            self._one_by_one = True
        if not self._one_by_one:
            return self._end_use
        return self._next_use(run if run.pins else run.parent)

    def _exceeds_capacity(self) -> bool:
        """Say whether no room will be asked for all of it, since it is too much in any case."""
        world = self.world
        if world is None or world.capacity_bytes is None:
            return False
        tokens = sum(run.stop - run.kv_end for run in self._incoming)
        return tokens * world.sizes.kv_bytes_per_token > world.capacity_bytes

    def _next_use(self, entry: Entry) -> int:
        if self._foresight is None:
            return NEVER
        return self._foresight.next_use(entry, self._number)

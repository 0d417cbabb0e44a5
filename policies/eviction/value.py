"""Least expected saving per byte."""

from __future__ import annotations

from math import log2
from typing import ClassVar

from policies.eviction.groups import Groups
from policies.eviction.hazard import Hazard
from policies.eviction.lineage import Lineage
from policies.eviction.nodes import is_bare, with_its_kv
from policies.eviction.prefixed import PrefixEviction
from policies.eviction.queue import Queue
from policies.parameters import require
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap
from simulator.world import World

_MOST_USES = 3  # beyond which uses are not told apart


class Value(PrefixEviction):
    """Evict what is expected to save the fewest seconds per byte and time.

    A state saves the seconds of prefill from the next state above it to its position, whenever a
    prompt resumes from it. How soon that can be expected is learned from all states (`Hazard`), by
    how long ago and how often it was used, and by whether it is the last of its path: what ends
    there is likely to be continued, what was continued is less so. The bytes are its own, and
    those of the KV that can leave with it where it is the last of its path; KV alone saves
    nothing. So states and KV have one price, the same for which a placer would buy them.

    Entries of like worth (within a factor of `step`), use and kind are kept by age, and both ends
    of these groups are compared: where memory is scarce, what has just come may be worth less
    than what has waited half the time to its next use.

    Parameters
    ----------
    step
        Factor between two groups of worth.

    Source: this project. A price per byte and time solves the allocation of memory to many
    prefixes (docs/placement.md); J. C. Gittins, "Bandit processes and dynamic
    allocation indices", Journal of the Royal Statistical Society B 41(2), 1979, for the index.
    """

    spares_states: ClassVar[bool] = True

    def __init__(self, step: float = 3.0) -> None:
        super().__init__()
        require(1.1 <= step <= 1000, "step", "1.1 to 1000", step)
        self._step = log2(step)
        self._now = 0
        self._hazard = Hazard(2 * _MOST_USES + 2)
        self._groups = Groups(self._hazard)
        self._lineage = Lineage()
        self._lives: dict[Checkpoint, _Life] = {}
        self._kv_bytes = 1
        self._kv = Queue()  # by last use; only what is bare is ever taken

    def begin(self, world: World) -> None:
        """Get to know sizes and costs."""
        super().begin(world)
        self._kv_bytes = world.sizes.kv_bytes_per_token

    def observe(self, overlap: Overlap) -> None:
        """Count the request."""
        self._now += 1

    def on_insert(self, entry: Entry) -> None:
        """Learn what it is worth."""
        if isinstance(entry, KvRun):
            entry.policy_data = self._now
            if is_bare(entry):
                self._kv.push(entry)
            return
        self._lives[entry] = _Life(self._now, ends=_ends_path(entry))
        for changed in self._lineage.add(entry):
            self._price(changed)
        self._price(entry)

    def on_hit(self, entry: Entry) -> None:
        """Learn from the use, and make it the most recent."""
        if isinstance(entry, KvRun):
            if not entry.children_resident:
                self._note_kv(entry)
            return
        life = self._lives[entry]
        self._hazard.note_use(life.kind, self._now - life.last)
        life.use(self._now, ends=_ends_path(entry))
        entry.queued = False  # its place is another now
        self._join(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it a place among the candidates."""
        if not isinstance(entry, KvRun):
            if not entry.queued:
                self._join(entry)
            return
        self._note_kv(entry)
        if entry.checkpoints:
            self._join(entry.checkpoints[-1])  # its KV can go with it now

    def on_evict(self, entry: Entry) -> None:
        """Learn that it was not used, and forget it."""
        if isinstance(entry, KvRun):
            entry.policy_data = None
            self._kv.discard(entry)
            return
        self._groups.drop(entry)
        life = self._lives.pop(entry)
        self._hazard.note_end(life.kind, self._now - life.last)
        for changed in self._lineage.remove(entry):
            self._price(changed)
        if entry.run.kv_end > entry.run.start and entry.run.policy_data is not None:
            self._note_kv(entry.run)

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Give both parts the age of the whole."""
        self._lineage.split(upper, lower)
        if not upper.size_bytes:
            return
        upper.policy_data = lower.policy_data
        self._kv.split(upper, lower)
        if not lower.size_bytes:
            lower.policy_data = None
        for run in (upper, lower):
            if run.checkpoints:
                self._join(run.checkpoints[-1])  # other KV goes with it now

    def victim(self) -> Entry | None:
        """Return KV that saves nothing, else the state of least expected saving, with its KV."""
        while isinstance(kv := self._kv.head(), KvRun):
            if is_bare(kv):
                return kv
            self._kv.discard(kv)  # it has been shortened to its last state
            if kv.checkpoints:
                self._join(kv.checkpoints[-1])
        least = self._groups.least(self._now)
        return None if least is None else with_its_kv(least)

    def _note_kv(self, run: KvRun) -> None:
        """Offer the KV of a run, if nothing resumes behind it."""
        self._kv.discard(run)
        if is_bare(run):
            self._kv.push(run)

    def _price(self, entry: Checkpoint) -> None:
        """Learn what a state saves, from the next one above."""
        seconds = 1.0
        if self.world is not None:
            above = self._lineage.above[entry]
            seconds = self.world.costs.prefill_seconds(above, entry.position)
        self._lives[entry].seconds = seconds
        self._join(entry)

    def _join(self, entry: Checkpoint) -> None:
        """Put a state into the group of its worth, if it was told of."""
        life = self._lives.get(entry)
        if life is not None:
            self._groups.put(entry, life.kind, self._worth(entry, life.seconds), life.last)

    def _worth(self, entry: Checkpoint, seconds: float) -> float:
        """Return the seconds per byte, rounded to a power of the step."""
        if self.world is None:
            return 1.0
        run, size_bytes = entry.run, entry.size_bytes
        if with_its_kv(entry) is run:
            above = self._lineage.above[entry]
            tokens = run.kv_end - (above if above > run.start else run.start)
            size_bytes += tokens * self._kv_bytes
        steps = round(log2((seconds or 1e-12) / (size_bytes or 1)) / self._step)
        return float(2.0 ** (steps * self._step))


class _Life:
    """What a state has been through: its last use, its kind, and what it saves."""

    __slots__ = ("kind", "last", "seconds", "uses")

    def __init__(self, now: int, *, ends: bool) -> None:
        self.seconds = 0.0
        self.uses = -1
        self.use(now, ends=ends)

    def use(self, now: int, *, ends: bool) -> None:
        """Note a use by request `now`; `ends`: nothing is stored below the state."""
        self.last = now
        self.uses += 1
        self.kind = 2 * min(self.uses, _MOST_USES) + ends


def _ends_path(entry: Checkpoint) -> bool:
    """Say whether no other state, nor the KV of another prompt, lies below."""
    run = entry.run
    return not run.children_resident and run.deepest_checkpoint(run.stop) is entry

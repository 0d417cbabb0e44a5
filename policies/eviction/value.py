"""Least expected saving per byte."""

from __future__ import annotations

from heapq import heappush
from math import log2

from policies.eviction.hazard import Hazard
from policies.eviction.lineage import Lineage
from policies.eviction.nodes import is_bare, with_its_kv
from policies.eviction.places import Place, head
from policies.eviction.prefixed import PrefixEviction
from policies.eviction.queue import Queue
from policies.parameters import require
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap
from simulator.world import World


class Value(PrefixEviction):
    """Evict what is expected to save the fewest seconds per byte and time.

    A state saves the seconds of prefill from the next state above it to its position, whenever a
    prompt resumes from it. How likely that is depends on how long ago and how often it was used,
    and is learned from all states (`Hazard`). The bytes are its own, and those of the KV that can
    leave with it where it is the last of its path; KV alone saves nothing. So states and KV have
    one price, the same for which a placer would buy them.

    Entries of like worth (within a factor of `step`) and use are kept by age, and the heads of
    these groups are compared: a decision takes a few dozen comparisons, however many entries
    there are.

    Parameters
    ----------
    step
        Factor between two groups of worth.

    Source: the price per byte and time of DESIGN, section 4, fact 3; the hazard by age and use
    follows N. Beckmann et al., "LHD: improving cache hit rate by maximizing hit density", NSDI
    2018.
    """

    def __init__(self, step: float = 8.0) -> None:
        super().__init__()
        require(1.1 <= step <= 1000, "step", "1.1 to 1000", step)
        self._step = log2(step)
        self._now = 0
        self._clock = 0
        self._hazard = Hazard()
        self._lineage = Lineage()
        self._seconds: dict[Checkpoint, float] = {}  # that each state saves
        self._kv_bytes = 1
        self._groups: dict[tuple[int, int], _Group] = {}  # by uses and worth
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
        entry.rank = (0, self._now)  # uses, last use
        for changed in self._lineage.add(entry):
            self._price(changed)
            self._join(changed)
        self._price(entry)
        self._join(entry)

    def on_hit(self, entry: Entry) -> None:
        """Learn from the use, and make it the most recent."""
        if isinstance(entry, KvRun):
            if not entry.children_resident:
                self._note_kv(entry)
            return
        uses, last = entry.rank
        self._hazard.note_use(uses, self._now - last)
        entry.rank = (uses + 1, self._now)
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
        entry.policy_data = None
        if isinstance(entry, KvRun):
            self._kv.discard(entry)
            return
        uses, last = entry.rank
        self._hazard.note_end(uses, self._now - last)
        del self._seconds[entry]
        for changed in self._lineage.remove(entry):
            self._price(changed)
            self._join(changed)
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
        """Return KV that saves nothing, else the head of the group whose head is worth least."""
        bare = self._kv.head()
        if bare is not None:
            return bare
        now, best, least, oldest = self._now, None, float("inf"), 0
        for group in self._groups.values():
            entry = head(group.heap)
            if entry is None:
                continue
            last = group.heap[0][0]
            age_bin = (now - last).bit_length()
            density = group.used[age_bin] * group.weight / (group.came[age_bin] * (1 << age_bin))
            if density < least or (density == least and last < oldest):
                best, least, oldest = entry, density, last
        return None if best is None else with_its_kv(best)

    def _note_kv(self, run: KvRun) -> None:
        """Offer the KV of a run, if nothing resumes behind it."""
        self._kv.discard(run)
        if is_bare(run):
            self._kv.push(run)

    def _price(self, entry: Checkpoint) -> None:
        """Learn what a state saves, from the next one above."""
        if self.world is not None:
            above = self._lineage.above[entry]
            self._seconds[entry] = self.world.costs.prefill_seconds(above, entry.position)
        else:
            self._seconds[entry] = 1.0

    def _join(self, entry: Checkpoint) -> None:
        """Put a state into the group of its worth, if it was told of."""
        seconds = self._seconds.get(entry)
        if seconds is None:
            return
        self._clock = clock = self._clock + 1
        entry.policy_data = clock
        entry.queued = True
        uses, last = entry.rank
        if uses > Hazard.MOST_USES:
            uses = Hazard.MOST_USES
        worth = self._worth(entry, seconds)
        group = self._groups.get((uses, worth))
        if group is None:
            group = _Group(2.0 ** (worth * self._step), uses, self._hazard)
            self._groups[uses, worth] = group
        heappush(group.heap, (last, clock, entry))

    def _worth(self, entry: Checkpoint, seconds: float) -> int:
        """Return the logarithm of the seconds per byte, in steps."""
        if self.world is None:
            return 0
        run, size_bytes = entry.run, entry.size_bytes
        if with_its_kv(entry) is run:
            above = self._lineage.above[entry]
            tokens = run.kv_end - (above if above > run.start else run.start)
            size_bytes += tokens * self._kv_bytes
        return round(log2((seconds or 1e-12) / (size_bytes or 1)) / self._step)


class _Group:
    """States of like worth and use, by last use."""

    __slots__ = ("came", "heap", "used", "weight")

    def __init__(self, weight: float, uses: int, hazard: Hazard) -> None:
        self.heap: list[Place] = []
        self.weight = weight
        self.came, self.used = hazard.came[uses], hazard.used[uses]

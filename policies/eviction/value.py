"""Least expected saving per byte."""

from __future__ import annotations

from heapq import heappop, heappush
from math import log2

from policies.eviction.hazard import Hazard
from policies.eviction.lineage import Lineage
from policies.eviction.nodes import is_bare, with_its_kv
from policies.eviction.prefixed import PrefixEviction
from policies.eviction.queue import Queue
from policies.parameters import require
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap


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
        self._groups: dict[tuple[int, int], _Group] = {}  # by uses and worth
        self._kv = Queue()  # by last use; only what is bare is ever taken

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
            self._join(changed)
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
        for changed in self._lineage.remove(entry):
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
            entry = group.head()
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

    def _join(self, entry: Checkpoint) -> None:
        """Put a state into the group of its worth."""
        if entry not in self._lineage.above:  # not told of yet
            return
        self._clock += 1
        entry.policy_data = self._clock
        entry.queued = True
        uses, last = entry.rank
        key = (min(uses, Hazard.MOST_USES), self._worth(entry))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(2.0 ** (key[1] * self._step), key[0], self._hazard)
        heappush(group.heap, (last, self._clock, entry))

    def _worth(self, entry: Checkpoint) -> int:
        """Return the logarithm of the seconds per byte, in steps."""
        if self.world is None:
            return 0
        above, run = self._lineage.above[entry], entry.run
        seconds = self.world.costs.prefill_seconds(above, entry.position)
        size_bytes = entry.size_bytes
        if with_its_kv(entry) is run:
            tokens = run.kv_end - max(above, run.start)
            size_bytes += tokens * self.world.sizes.kv_bytes_per_token
        return round(log2(max(seconds, 1e-12) / max(size_bytes, 1)) / self._step)


class _Group:
    """States of like worth and use, by last use, outdated places among them."""

    __slots__ = ("came", "heap", "used", "weight")

    def __init__(self, weight: float, uses: int, hazard: Hazard) -> None:
        self.heap: list[tuple[int, int, Checkpoint]] = []
        self.weight = weight
        self.came, self.used = hazard.came[uses], hazard.used[uses]

    def head(self) -> Checkpoint | None:
        """Return the evictable state that was not used for the longest time."""
        heap = self.heap
        while heap:
            _, clock, entry = heap[0]
            if entry.policy_data == clock:
                if entry.evictable:
                    return entry
                entry.queued = False
            heappop(heap)
        return None

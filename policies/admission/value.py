"""Admit what is worth more than what must leave."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from policies.frequency import Frequencies
from simulator.entry import Entry, KvRun
from simulator.world import World


class Value(BaseAdmission):
    """Admit an entry while there is room, or if it is worth more per byte than the next victim.

    The worth is how often it was wanted lately, times the seconds of prefill that it saves: for KV
    its own tokens, for a state those down from the next state above. An entry is counted each time
    that it would enter, as in `tinylfu`, which this is with seconds and bytes.

    Parameters
    ----------
    sample
        Counts after which all are halved.

    Source: TinyLFU (G. Einziger et al., ACM Transactions on Storage 13(4), 2017), with the cost
    and size of greedy dual (L. Cherkasova, HP Labs report HPL-98-69R1, 1998).
    """

    def __init__(self, sample: int = 100_000) -> None:
        self._uses = Frequencies(sample)
        self._world: World | None = None

    def begin(self, world: World) -> None:
        """Learn the costs."""
        self._world = world

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Let the upper part have the count of the whole."""
        self._uses.split(upper.key, lower.key)

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Count the candidate, and compare it with the victim."""
        self._uses.add(candidate.key)
        if victim is None:
            return True
        return self._worth(candidate, size_bytes) > self._worth(victim, victim.size_bytes)

    def _worth(self, entry: Entry, size_bytes: int) -> float:
        seconds = 1.0
        if self._world is not None:
            seconds = self._world.costs.prefill_seconds(*self._span(entry, size_bytes))
        return max(self._uses.of(entry.key), 1) * seconds / max(size_bytes, 1)

    def _span(self, entry: Entry, size_bytes: int) -> tuple[int, int]:
        """Return the tokens that an entry of so many bytes saves."""
        if isinstance(entry, KvRun):
            kv_bytes = 1 if self._world is None else self._world.sizes.kv_bytes_per_token
            return entry.start, entry.start + size_bytes // max(kv_bytes, 1)
        run, limit = entry.run, entry.position - 1
        while run.stop:
            above = run.deepest_checkpoint(limit)
            if above is not None:
                return above.position, entry.position
            run = run.parent
        return 0, entry.position

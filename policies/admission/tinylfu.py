"""TinyLFU: admit what is used more often than what must leave."""

from __future__ import annotations

from policies.admission.base import BaseAdmission
from policies.frequency import Frequencies
from simulator.entry import Entry, KvRun


class TinyLfu(BaseAdmission):
    """Admit an entry while there is room, or if it was wanted more often than the next victim.

    An entry is counted each time that it would enter, so what the cache already holds is counted
    by what it took to come in.

    Parameters
    ----------
    sample
        Counts after which all are halved.

    Source: G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
    policy", ACM Transactions on Storage 13(4), 2017. The counts are exact, not a sketch.
    """

    def __init__(self, sample: int = 100_000) -> None:
        self._uses = Frequencies(sample)

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Let the upper part have the count of the whole."""
        self._uses.split(upper.key, lower.key)

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Count the candidate, and compare it with the victim."""
        del size_bytes
        self._uses.add(candidate.key)
        return victim is None or self._uses.of(candidate.key) > self._uses.of(victim.key)

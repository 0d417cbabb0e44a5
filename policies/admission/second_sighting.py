"""Admit what is asked for again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from policies.admission.base import BaseAdmission
from policies.parameters import require_at_least
from simulator.entry import Entry, KvRun


class SecondSighting(BaseAdmission):
    """Admit an entry the second time that it would enter; the first time it is only remembered.

    What comes once never costs a byte, at the price of a second prefill of what comes again. KV
    that is part of a run already admitted is admitted too, and so is what was evicted.

    Parameters
    ----------
    memory
        Entries remembered; the oldest sighting is forgotten first.

    Source: B. M. Maggs and R. K. Sitaraman, "Algorithmic nuggets in content delivery", ACM
    SIGCOMM Computer Communication Review 45(3), 2015 ("cache on second hit").
    """

    def __init__(self, memory: int = 1_000_000) -> None:
        require_at_least("memory", memory, 1)
        self._memory = memory
        self._seen: OrderedDict[Hashable, None] = OrderedDict()

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Remember the upper part if the whole was seen."""
        if lower.key in self._seen:
            self._remember(upper.key)

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Say whether it was seen before, and remember it."""
        del size_bytes, victim
        key = candidate.key
        if key in self._seen:
            return True
        self._remember(key)
        return False

    def _remember(self, key: Hashable) -> None:
        self._seen[key] = None
        if len(self._seen) > self._memory:
            self._seen.popitem(last=False)

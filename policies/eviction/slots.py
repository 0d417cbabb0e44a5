"""Entries in numbered slots, with columns of numbers that numpy can score at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.entry import Entry


class Slots:
    """Numbers entries (`entry.policy_data`) and keeps three columns for them.

    `last` and `worth` are the policy's; where `open` is set the entry is a candidate.
    """

    def __init__(self) -> None:
        self.entries: list[Entry | None] = []
        self.last: NDArray[np.float64] = np.zeros(64)
        self.worth: NDArray[np.float64] = np.zeros(64)
        self.open: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._free: list[int] = []

    def add(self, entry: Entry, last: float) -> int:
        """Give an entry a slot, as a candidate."""
        if self._free:
            slot = self._free.pop()
            self.entries[slot] = entry
        else:
            slot = len(self.entries)
            self.entries.append(entry)
            if slot == len(self.last):
                self._grow()
        self.last[slot], self.worth[slot], self.open[slot] = last, 0.0, True
        entry.policy_data = slot
        return slot

    def remove(self, entry: Entry) -> None:
        """Forget an entry."""
        slot = entry.policy_data
        entry.policy_data = self.entries[slot] = None
        self.open[slot] = False
        self._free.append(slot)

    def candidates(self) -> NDArray[np.int64]:
        """Return the slots of all candidates."""
        return np.flatnonzero(self.open)

    def _grow(self) -> None:
        size = len(self.last)
        self.last = np.concatenate([self.last, np.zeros(size)])
        self.worth = np.concatenate([self.worth, np.zeros(size)])
        self.open = np.concatenate([self.open, np.zeros(size, dtype=np.bool_)])

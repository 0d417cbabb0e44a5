"""Births: new items (documents, system prompts) replace old ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Births(Spec):
    """Replacement of items by new ones at a steady pace; the popularity of each rank stays.

    At share x of the trace, a rank has its item number floor(times * x + phase), where phase is
    drawn uniformly from [0, 1) for each rank. A new item is a new text with a length of its own.

    Parameters
    ----------
    times
        Mean number of replacements of each item over the trace.
    """

    times: float = knob(1.0, 0.0, 100.0)

    @property
    def generations(self) -> int:
        """The largest number of successive items that one rank can have."""
        return int(self.times) + 2

    def generation(self, x: Float64, phase: Float64) -> Int64:
        """Return the number of a rank's current item at positions x of the trace (0 to 1).

        `phase` is the phase of the rank.
        """
        return np.floor(self.times * x + phase).astype(np.int64)

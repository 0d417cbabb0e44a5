"""New documents in the place of old ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Births(Spec):
    """New items take the place of old ones, at a steady pace; popularity by rank stays.

    The item of a rank is its generation floor(times * x + phase), with a phase that is uniform on
    [0, 1) for each rank. A new item is another text, of another length, never seen before.

    Parameters
    ----------
    times
        How often each item is replaced over the trace, in the mean.
    """

    times: float = knob(1.0, 0.0, 100.0)

    @property
    def generations(self) -> int:
        """The greatest number of items that one rank can have."""
        return int(self.times) + 2

    def generation(self, x: Float64, phase: Float64) -> Int64:
        """Return the generations at shares x of the trace."""
        return np.floor(self.times * x + phase).astype(np.int64)

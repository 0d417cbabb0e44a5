"""Growth of lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Growth(Spec):
    """Lengths grow step by step, up to `factor`; shared texts by appending.

    In step k, from x = k / (steps + 1) on, lengths are factor ** (k / steps) times the first
    ones. A shared text of an earlier step is a prefix of the same text now.

    Parameters
    ----------
    factor
        The last lengths over the first ones.
    steps
        Steps within the trace.
    """

    factor: float = knob(2.0, 1.0, 100.0)
    steps: int = knob(4, 1, 64)

    def step(self, x: Float64) -> Int64:
        """Return the steps in force at shares x of the trace."""
        return np.minimum(np.floor((self.steps + 1) * x), self.steps).astype(np.int64)

    def scale(self, step: Int64) -> Float64:
        """Return how many times longer texts are in a step than at first."""
        return np.power(self.factor, step / self.steps)

"""Growth of prompt lengths over a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Growth(Spec):
    """Lengths that grow in steps, up to `factor` times the first; shared texts by appending.

    In step k, from x = k / (steps + 1) on, lengths are factor ** (k / steps) times the first ones.
    A shared text is always a prefix of the same text in later steps.

    Parameters
    ----------
    factor
        Ratio of the last lengths to the first.
    steps
        Number of times that lengths grow.
    """

    factor: float = knob(2.0, 1.0, 100.0)
    steps: int = knob(4, 1, 64)

    def step(self, x: Float64) -> Int64:
        """Return the number of steps of growth before positions x of the trace (0 to 1)."""
        return np.minimum(np.floor((self.steps + 1) * x), self.steps).astype(np.int64)

    def scale(self, step: Int64) -> Float64:
        """Return the lengths after `step` steps of growth, relative to the first lengths."""
        return np.power(self.factor, step / self.steps)

"""A one-time shift of the mix (the popularity of items)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, MixDrift
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Shift(MixDrift):
    """A mix that moves from one to another, gradually or at once.

    At share x of the trace the total variation distance from the first mix is distance * x, or,
    where `at` is given, 0 before `at` and `distance` after it.

    Parameters
    ----------
    distance
        Total variation distance between the first and the last mix.
    at
        Share of the trace at which the mix changes at once; None: a linear change over the trace.
    """

    at: float | None = knob(None, 0.0, 1.0)

    def weight(self, x: Float64) -> Float64:
        """Return the weight of the second mix at positions x of the trace (0 to 1)."""
        return x if self.at is None else (x >= self.at).astype(np.float64)

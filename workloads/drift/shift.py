"""A shift of the mix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, MixDrift
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Shift(MixDrift):
    """The mix shifts to another one, gradually or at once.

    The weight of the second mix is x, or 1 from `at` on; so at x the law has moved by
    distance * x, or by all of it.

    Parameters
    ----------
    distance
        Total variation distance of the first and the last mix.
    at
        The share of the trace at which the shift is sudden; None: linear over all of it.
    """

    at: float | None = knob(None, 0.0, 1.0)

    def weight(self, x: Float64) -> Float64:
        """Return the weight of the second mix at shares x of the trace."""
        return x if self.at is None else (x >= self.at).astype(np.float64)

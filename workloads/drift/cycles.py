"""Weekly cycles of the mix (the popularity of items)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, MixDrift
from workloads.spec import knob


@dataclass(frozen=True, slots=True)
class Cycles(MixDrift):
    """A mix that alternates weekly: the first mix for five sevenths of a week, then the second.

    Parameters
    ----------
    distance
        Total variation distance between the mixes of workdays and weekends.
    weeks
        Weeks in the trace, each with an equal number of requests.
    """

    weeks: float = knob(2.0, 0.1, 1000.0)

    def weight(self, x: Float64) -> Float64:
        """Return the weight of the second mix at positions x of the trace (0 to 1)."""
        return (x * self.weeks % 1 >= 5 / 7).astype(np.float64)

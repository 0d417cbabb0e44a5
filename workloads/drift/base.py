"""The ways in which a law drifts, each as a function of the share of the trace."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workloads.spec import Spec, knob

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MixDrift(Spec):
    """A drift of what requests are about: the mix moves between a first one and a second one.

    The second mix is the first one moved towards its reverse, in which the most popular is the
    least popular, so far that the total variation distance of the two is `distance`.

    Parameters
    ----------
    distance
        Total variation distance of the two mixes: the share of requests that are about something
        else. How far it can go depends on the mix; a uniform one has no other.
    """

    distance: float = knob(0.3, 0.0, 1.0)

    @abstractmethod
    def weight(self, x: Float64) -> Float64:
        """Return the weight in [0, 1] of the second mix at shares x of the trace."""

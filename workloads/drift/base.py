"""Base class of drifts of the mix, the popularity of items."""

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
    """A drift of popularity: the mix of items moves between a first and a second mix.

    A mix is the probability of each item. The second mix is a blend of the first one and its
    reverse, in which the most popular item is the least popular, at the total variation distance
    `distance` from the first.

    Parameters
    ----------
    distance
        Total variation distance of the two mixes: the share of requests that go to other items. Its
        maximum depends on the mix; it is 0 for a uniform one.
    """

    distance: float = knob(0.3, 0.0, 1.0)

    @abstractmethod
    def weight(self, x: Float64) -> Float64:
        """Return the weight (0 to 1) of the second mix at positions x of the trace (0 to 1)."""

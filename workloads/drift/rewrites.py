"""Rewrites of the template behind the shared text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Rewrites(Spec):
    """The closing part of every shared prefix is rewritten, and the divergence point moves.

    Version v is in force from x = v / (times + 1) on, the trace being cut into equal spells, and
    is v * moved tokens longer than the first. What stands before the closing part stays.

    Parameters
    ----------
    times
        Rewrites within the trace.
    moved
        Tokens by which each of them moves the divergence point.
    """

    times: int = knob(1, 0, 100)
    moved: int = knob(64, 1, 10**5)

    def version(self, x: Float64) -> Int64:
        """Return the versions in force at shares x of the trace."""
        return np.minimum(np.floor((self.times + 1) * x), self.times).astype(np.int64)

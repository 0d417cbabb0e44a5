"""Rewrites of the end of shared prefixes, as when a template is edited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workloads.drift.base import Float64, Int64
from workloads.spec import Spec, knob


@dataclass(frozen=True, slots=True)
class Rewrites(Spec):
    """Rewrites of the closing part of every shared prefix; each moves the divergence point.

    Version v is in force from x = v / (times + 1) on, so that all versions last equally long, and
    is v * moved tokens longer than the first. Text before the closing part does not change.

    Parameters
    ----------
    times
        Number of rewrites within the trace.
    moved
        Tokens by which each rewrite moves the divergence point.
    """

    times: int = knob(1, 0, 100)
    moved: int = knob(64, 1, 10**5)

    def version(self, x: Float64) -> Int64:
        """Return the version in force at positions x of the trace (0 to 1)."""
        return np.minimum(np.floor((self.times + 1) * x), self.times).astype(np.int64)

"""No checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class NoPlacer(BasePlacer):
    """Store no checkpoint: every prompt is computed from its start.

    Source: none; the floor that placers are held against.
    """

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return no position."""
        return ()

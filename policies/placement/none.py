"""No checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class NoPlacer(BasePlacer):
    """Store no checkpoint: every prompt is computed from its start.

    Source: none; a lower bound to compare placers with.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd", "abcde"], placer="none").saved  # KV is there, but no state to resume from
    [0, 0]
    """

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return no position."""
        return ()

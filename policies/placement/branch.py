"""Checkpoints where prompts diverge."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class Branch(BasePlacer):
    """Store a checkpoint where prompts were seen to diverge, and one at the end.

    The third prompt of a document finds the state where the second left the first; a prompt that
    continues a whole earlier one finds the state at its end. The second prompt of a document
    finds nothing, unless `first` tells where it is likely to leave the first.

    Parameters
    ----------
    first
        Store one more checkpoint so many tokens before the end of every prompt, where that lies
        behind all that is known of it; 0 for none.

    Source: the rule of radix-tree caches such as Marconi, arXiv 2411.19379.
    """

    def __init__(self, first: int = 0) -> None:
        require(0 <= first <= 2**40, "first", "0 to 2**40", first)
        self._first = first

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the branch points known in reach, a first sighting, and the prompt's length."""
        points = [*prefix.branch_points(), prefix.prompt_tokens]
        sighting = prefix.prompt_tokens - self._first
        if self._first and sighting > max(prefix.resume, prefix.overlap):
            points.insert(-1, sighting)
        return points

"""Checkpoints where prompts diverge."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.protocols import Prefix


class Branch(BasePlacer):
    """Store a checkpoint where prompts were seen to diverge, and one at the end.

    The third prompt of a document finds the state where the second left the first; a prompt that
    continues a whole earlier one finds the state at its end.
    """

    source = "the rule of radix-tree caches such as Marconi, arXiv 2411.19379"

    def place(self, prefix: Prefix) -> Sequence[int]:
        """Return the branch points known in reach, and the length of the prompt."""
        return [*prefix.branch_points(), prefix.prompt_tokens]

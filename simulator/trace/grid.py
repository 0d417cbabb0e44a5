"""Where a checkpoint may lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """The positions at which checkpoints can be stored and matched.

    Parameters
    ----------
    granularity
        Tokens a block of the trace: no overlap ends inside a block.
    alignment
        Tokens a chunk of the model: exact states exist only at multiples of it.
    """

    granularity: int = 1
    alignment: int = 1

    @property
    def step(self) -> int:
        """The coarser of the two."""
        return max(self.granularity, self.alignment)

    def floor(self, position: int) -> int:
        """Return the deepest position of the grid that is not beyond `position`."""
        position -= position % self.granularity
        return position - position % self.alignment

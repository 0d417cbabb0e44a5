"""The positions at which checkpoints are allowed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """The positions at which checkpoints (recurrent states) can be stored and matched.

    Parameters
    ----------
    granularity
        Block size of the trace, in tokens: prompts are known to diverge only between blocks.
    alignment
        Chunk size of the model, in tokens: exact states exist only at its multiples.
    """

    granularity: int = 1
    alignment: int = 1

    @property
    def step(self) -> int:
        """The larger of granularity and alignment, in tokens."""
        return max(self.granularity, self.alignment)

    def floor(self, position: int) -> int:
        """Return the deepest allowed checkpoint position at or before `position`."""
        position -= position % self.granularity
        return position - position % self.alignment

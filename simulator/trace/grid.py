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
        """Return where the state is stored that is wanted at `position`.

        That is `position` rounded down to a block, and then to a multiple of the alignment. Where
        neither of the two divides the other, a deeper position than this may be allowed before
        `position`: that of a state which another prompt wanted further on. `deepest` returns it.
        """
        position -= position % self.granularity
        return position - position % self.alignment

    def deepest(self, limit: int) -> int:
        """Return the deepest position up to `limit` at which any prompt can store a state."""
        return self.floor(limit - limit % self.alignment + self.alignment - 1)

    def first_after(self, position: int) -> int:
        """Return the least position after `position` at which any prompt can store a state."""
        wanted = position - position % self.alignment + self.alignment
        return self.floor(wanted + -wanted % self.granularity)

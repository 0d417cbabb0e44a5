"""Evenly spaced checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import require_at_least
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


def multiples(spacing: int, prefix: Prefix) -> range:
    """Return the multiples of `spacing` in `(prefix.resume, prompt_tokens]`."""
    return range(
        prefix.resume - prefix.resume % spacing + spacing, prefix.prompt_tokens + 1, spacing
    )


class Block(BasePlacer):
    """Store a checkpoint every `size` tokens, as block-wise prefix caches do.

    No overlap loses `size` tokens or more; the number of checkpoints grows with the prompt.

    Parameters
    ----------
    size
        Tokens between checkpoints, 1 or more.

    Source: none; arXiv 2605.05219 compares with it (strategy `block`).

    Examples
    --------
    >>> from policies.tryout import planned, serve
    >>> planned("block:size=30", prompt_tokens=100)
    [30, 60, 90]
    >>> serve(["abcdefgh", "abcdefxy"], placer="block:size=4").saved  # of 6 shared tokens
    [0, 4]
    """

    def __init__(self, size: int) -> None:
        require_at_least("size", size, 1)
        self._size = size

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the multiples of `size`."""
        return multiples(self._size, prefix)

"""Checkpoints at powers of two."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from policies.parameters import require
from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window

LONGEST = 2**53


class Dyadic(BasePlacer):
    """Store checkpoints at the powers of two from `first` on: 1024, 2048, 4096, ... for 768.

    About log2(L / first) of them; an overlap of 2 `first` or more saves more than half of itself.

    Parameters
    ----------
    first
        No position lies below this; tokens, 1 to 2**40. It need not be a power of two.

    Source: arXiv 2605.05219 (strategy `log`).

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("dyadic", prompt_tokens=10_000)
    [1024, 2048, 4096, 8192]
    >>> planned("dyadic", prompt_tokens=10_000, resume=2048)
    [4096, 8192]
    """

    def __init__(self, first: int = 768) -> None:
        require(1 <= first <= 2**40, "first", "1 to 2**40", first)
        self._positions = [2**i for i in range((first - 1).bit_length(), LONGEST.bit_length())]

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the powers of two between the resume point and the end."""
        positions = self._positions
        return positions[
            bisect_right(positions, prefix.resume) : bisect_right(positions, prefix.prompt_tokens)
        ]

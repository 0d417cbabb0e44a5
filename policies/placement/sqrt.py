"""The square-root rule of activation checkpointing."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from policies.placement.base import BasePlacer
from policies.placement.block import multiples
from simulator.plugins.protocols import Prefix, Window


class SquareRoot(BasePlacer):
    """Store a checkpoint every ceil(sqrt(L)) tokens of a prompt of L.

    It balances the number of checkpoints and the longest recompute, both about sqrt(L): optimal
    for their sum, when one of each costs the same.

    Source: Chen et al. 2016, arXiv 1604.06174, section 4.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("sqrt", prompt_tokens=16)
    [4, 8, 12, 16]
    >>> len(planned("sqrt", prompt_tokens=10_000))  # one every 100 tokens
    100
    """

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return the multiples of ceil(sqrt(L))."""
        return multiples(isqrt(prefix.prompt_tokens - 1) + 1, prefix)

"""A state at every position, at no cost."""

from __future__ import annotations

from collections.abc import Sequence

from policies.placement.base import BasePlacer
from simulator.plugins.protocols import Prefix, Window


class Dense(BasePlacer):
    """Hold a state at every position at no cost: an upper bound for all placers.

    Source: none; what a cache of KV alone would save.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["abcdefgh", "abcdefxy"], placer="dense")
    >>> served.saved, served.states  # all that is shared, with no state stored
    ([0, 6], [])
    """

    implicit = True

    def place(self, prefix: Prefix, window: Window) -> Sequence[int]:
        """Return every position behind the resume point; the cache never asks for them."""
        return range(prefix.resume + 1, prefix.prompt_tokens + 1)

"""SegLen: replay length and recency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.eviction.nodes import NodeEviction, scaled
from policies.parameters import require_at_least


class SegLen(NodeEviction):
    """Evict the node of least replay length + 0.85 x recency, each scaled to 0..1.

    Nodes are those of `NodeEviction`. The replay length of a state is the tokens from the nearest
    surviving state above: what would be computed again without it. It needs no FLOPs and no
    bytes. Recency is the request that last used the state. Both are scaled by their least and
    greatest value among the candidates (the source gives the weight, not the scales).

    Parameters
    ----------
    recency
        Weight of the recency.

    Source: Abdelfattah lab, "Rethinking prefix caching for hybrid LLMs" (SegLen), 2026.
    """

    def __init__(self, recency: float = 0.85) -> None:
        super().__init__()
        require_at_least("recency", recency, 0)
        self._recency = recency

    def worth(self, start: int, stop: int) -> float:
        """Return the tokens between the two states."""
        return stop - start

    def scores(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return replay length + weight x recency."""
        length = scaled(self._slots.worth[candidates], 1.0)
        return length + scaled(self._slots.last[candidates], self._recency)

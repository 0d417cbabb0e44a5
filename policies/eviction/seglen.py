"""SegLen: replay length and recency."""

from __future__ import annotations

from typing import Any

from policies.eviction.nodes import NodeEviction
from policies.parameters import require_at_least


class SegLen(NodeEviction):
    """Evict the node of least replay length + 0.85 x recency, each scaled to 0..1.

    A node is a state with the KV between it and the next state above, and a candidate if it has
    at most one child; KV without a state goes first. The replay length of a state is the tokens
    from that next one: what would be computed again without it. It needs no FLOPs and no bytes.
    Recency is the request that last used the state. Both are scaled by their least and
    greatest value among the candidates (the source gives the weight, not the scales).

    Parameters
    ----------
    recency
        Weight of the recency.

    Source: Abdelfattah lab, "Rethinking prefix caching for hybrid LLMs" (SegLen), 2026.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> prompts = ["aaaaaa", "bbb", "cc", "dd"]
    >>> serve(prompts, eviction="seglen", capacity_bytes=20, state_bytes=4).states
    ['aaaaaa', 'dd']
    >>> serve(prompts, eviction="seglen:recency=5", capacity_bytes=20, state_bytes=4).states
    ['bbb', 'cc', 'dd']
    """

    def __init__(self, recency: float = 0.85) -> None:
        super().__init__()
        require_at_least("recency", recency, 0)
        self.recency_weight = recency

    def worth(self, start: int, stop: int) -> float:
        """Return the tokens between the two states."""
        return stop - start

    def recency(self, last: Any, now: int) -> Any:
        """Return the number of the request, which is linear in time."""
        del now
        return last

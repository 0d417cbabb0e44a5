"""Prefix-aware greedy dual size frequency."""

from __future__ import annotations

from typing import Any

from policies.eviction.ranked import Ranked
from policies.orders.lineage import state_above
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Checkpoint, Entry, KvSpan


class Pgdsf(Ranked):
    """Evict the least of clock + uses x cost / size; the clock is the priority of the last victim.

    The cost is the seconds to compute again what the entry holds: for KV its own tokens after the
    prefix before them, for a state the tokens from the next state above it, when it was last used.
    Plain objects all cost the same, which makes this `gdsf`, but never evicting the new object.

    Source: C. Jin et al., "RAGCache: efficient knowledge caching for retrieval-augmented
    generation", ACM Transactions on Computer Systems 2025 (arXiv 2404.12457), section 5.1.

    Examples
    --------
    A state of 4 bytes saves 6 seconds in the first prompt, 3 in the second, which so loses it:

    >>> from policies.tryout import serve
    >>> prompts = ["aaaaaa", "bbb", "cc"]
    >>> serve(prompts, eviction="pgdsf", capacity_bytes=20, state_bytes=4).states
    ['aaaaaa', 'cc']
    >>> serve(prompts, eviction="lru", capacity_bytes=20, state_bytes=4).states
    ['bbb', 'cc']
    """

    def __init__(self) -> None:
        super().__init__()
        self._costs: CostModel | None = None
        self._aged = 0.0
        self._asked: Entry | None = None

    def begin(self, context: CacheContext) -> None:
        """Read the costs."""
        super().begin(context)
        self._costs = context.costs

    def first_rank(self, entry: Entry) -> tuple[float, int]:
        """Return the priority of one use."""
        entry.policy_data = (1, worth := self._seconds_per_byte(entry))
        return self._aged + worth, self._clock

    def on_hit(self, entry: Entry) -> None:
        """Count the use."""
        self._clock += 1
        uses, worth = entry.policy_data
        if isinstance(entry, Checkpoint):  # the next state above may be another by now
            worth = self._seconds_per_byte(entry)
        entry.policy_data = (uses + 1, worth)
        priority = self._aged + (uses + 1) * worth
        before = entry.rank[0]
        entry.rank = (priority if priority > before else before, self._clock)

    def on_evict(self, entry: Entry) -> None:
        """Advance the clock to the priority of the victim, not of what left along with it."""
        if entry is self._asked:
            self._aged = entry.rank[0]
            self._asked = None

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the rank and the uses of the whole, and price each by itself."""
        super().on_split(upper, lower)
        for part in (upper, lower):
            if part.size_bytes:
                part.policy_data = (lower.policy_data[0], self._seconds_per_byte(part))

    def victim(self) -> Entry | None:
        """Return the evictable entry of least priority."""
        self._asked = super().victim()
        return self._asked

    def _seconds_per_byte(self, entry: Any) -> float:
        size_bytes = entry.size_bytes or 1
        if self._costs is None:
            return 1.0 / size_bytes
        if isinstance(entry, KvSpan):
            return self._costs.prefill_seconds(entry.start, entry.kv_end) / size_bytes
        return self._costs.prefill_seconds(state_above(entry), entry.position) / size_bytes

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
    Plain objects all cost the same, which makes this `gdsf` without its exchange of newcomers.

    Source: C. Jin et al., "RAGCache: efficient knowledge caching for retrieval-augmented
    generation", ACM Transactions on Computer Systems 2025 (arXiv 2404.12457), section 5.1.
    """

    def __init__(self) -> None:
        super().__init__()
        self._costs: CostModel | None = None
        self._aged = 0.0
        self._asked: Entry | None = None

    def begin(self, context: CacheContext) -> None:
        """Learn the costs."""
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
        if isinstance(entry, Checkpoint):  # KV costs the same again, a state perhaps not
            worth = self._seconds_per_byte(entry)
        entry.policy_data = (uses + 1, worth)
        priority = self._aged + (uses + 1) * worth
        before = entry.rank[0]
        entry.rank = (priority if priority > before else before, self._clock)

    def on_evict(self, entry: Entry) -> None:
        """Let the clock go on, unless it only left with something else."""
        if entry is self._asked:
            self._aged = entry.rank[0]
            self._asked = None

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Give both parts the rank of the whole; its uses cost what each of them costs."""
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

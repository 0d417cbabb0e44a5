"""Time to live."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.prefixed import Scored
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from policies.orders.rank_view import RankView
from policies.parameters import require
from simulator.plugins.entries import Checkpoint, Entry, KvSpan
from simulator.plugins.protocols import Overlap


class Ttl(Scored):
    """Expire what is older than its life; evict the least recently used of the rest.

    What has expired leaves before the next prompt is matched and serves no hit; it counts as
    evicted. KV and states are of no use without the KV above them, so their lives end with its
    life. What a running request uses, and the KV above that, stays until the request ends, and
    goes before anything else.

    Parameters
    ----------
    seconds
        Life of an entry, from the end of the prefill that brought it. In a trace without times
        nothing expires.
    refresh
        Let each use begin a new life: of the state that a prompt resumes from, and of the KV of
        its whole path.

    Source: V. Cate, "Alex: a global file system", USENIX File Systems Workshop 1992 (expiry by
    age). Hosted prompt caches refresh.
    """

    def __init__(self, seconds: float = 600.0, refresh: bool = False) -> None:
        super().__init__()
        require(0 < seconds < float("inf"), "seconds", "a positive number", seconds)
        self._seconds = seconds
        self._refresh = refresh
        self._now = 0.0  # when the prefill ended whose entries come and are used
        self._matched = 0.0  # when a prompt was matched last
        self._by_use = Queue()

    def observe(self, overlap: Overlap) -> None:
        """Look at the clock."""
        self._now = max(self._now, overlap.now_seconds)

    def on_insert(self, entry: Entry) -> None:
        """Begin its life."""
        self._by_use.push(entry)
        self.place(entry, self._birth_of(entry))

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent, and perhaps begin its life again."""
        self._by_use.touch(entry)
        if self._refresh:
            self.place(entry, self._birth_of(entry))

    def on_evictable(self, entry: Entry) -> None:
        """Give it its places again."""
        super().on_evictable(entry)
        self._by_use.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        super().on_evict(entry)
        self._by_use.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Leave both parts where they stand."""
        self._by_use.split(upper, lower)
        super().on_split(upper, lower)

    def expired(self, now_seconds: float) -> Entry | None:
        """Return the evictable entry whose life ended first, or None where none has."""
        self._matched = max(self._matched, now_seconds)
        oldest = super().victim()
        return oldest if oldest is not None and self._is_over(oldest) else None

    def victim(self) -> Entry | None:
        """Return what had expired when it was in use, else the least recent."""
        return self.expired(self._matched) or self._by_use.head()

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, and change nothing."""
        outlook = Outlook()
        by_birth = RankView(self._heap, outlook, "policy_data")
        by_use = QueueView(self._by_use, outlook)
        while True:
            entry = by_birth.head()
            if entry is None or not self._is_over(entry):
                entry = by_use.head()
            if entry is None:
                return
            yield entry
            freed = outlook.let_go(entry)
            by_birth.on_evictable(freed)
            by_use.on_evictable(freed)

    def _is_over(self, entry: Entry) -> bool:
        """Say whether the life of an entry was over when a prompt was matched last."""
        return bool(self._matched - entry.rank[0] > self._seconds)

    def _birth_of(self, entry: Entry) -> tuple[float, int]:
        """Return when its life has begun, or that of the KV above it if that was before.

        Deeper entries come first among equals.
        """
        if isinstance(entry, Checkpoint):
            span, depth = entry.span, entry.position
        else:
            span, depth = entry.parent, entry.start
        birth = self._now
        if not self._refresh:  # else the request uses all that lies above, too
            while span.stop and span.policy_data is None:  # it comes in with the entry
                span = span.parent
            if span.stop:
                birth = min(birth, span.rank[0])
        return birth, -depth

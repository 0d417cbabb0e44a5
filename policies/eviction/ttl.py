"""Expiry by time to live."""

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
    """Expire entries after their time to live; evict the least recently used of the rest.

    Expired entries leave before the next prompt is matched, so they serve no hit; they count as
    evicted. KV and states are of no use without the KV above them, so they expire with it at the
    latest. An expired entry that a running request uses, and the KV above it, stays until the
    request ends, and then leaves before anything else.

    Parameters
    ----------
    seconds
        Lifetime of an entry, from the end of the prefill that stored it. In a trace without times
        nothing expires.
    refresh
        Restart the lifetime with each use: of the state that a prompt resumes from, and of the
        KV of its whole path.

    Source: V. Cate, "Alex: a global file system", USENIX File Systems Workshop 1992 (expiry by
    age). Hosted prompt caches refresh.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> prompts, seconds = ["ab", "abcd", "abcdef"], [0, 8, 16]
    >>> serve(prompts, eviction="ttl:seconds=10", seconds=seconds).saved  # from 0 to 10 seconds
    [0, 2, 0]
    >>> serve(prompts, eviction="ttl:seconds=10,refresh=true", seconds=seconds).saved
    [0, 2, 4]
    """

    def __init__(self, seconds: float = 600.0, refresh: bool = False) -> None:
        super().__init__()
        require(0 < seconds < float("inf"), "seconds", "a positive number", seconds)
        self._seconds = seconds
        self._refresh = refresh
        self._now = 0.0  # when the latest prefill ended
        self._matched = 0.0  # when a prompt was matched last
        self._by_use = Queue()

    def observe(self, overlap: Overlap) -> None:
        """Note the time."""
        self._now = max(self._now, overlap.now_seconds)

    def on_insert(self, entry: Entry) -> None:
        """Start its lifetime."""
        self._by_use.push(entry)
        self.place(entry, self._birth_of(entry))

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent, and restart its lifetime with `refresh`."""
        self._by_use.touch(entry)
        if self._refresh:
            self.place(entry, self._birth_of(entry))

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old places."""
        super().on_evictable(entry)
        self._by_use.on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        super().on_evict(entry)
        self._by_use.discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place."""
        self._by_use.split(upper, lower)
        super().on_split(upper, lower)

    def expired(self, now_seconds: float) -> Entry | None:
        """Return the evictable entry that expired first, or None where none has."""
        self._matched = max(self._matched, now_seconds)
        oldest = super().victim()
        return oldest if oldest is not None and self._is_over(oldest) else None

    def victim(self) -> Entry | None:
        """Return an entry that expired while it was in use, else the least recent."""
        return self.expired(self._matched) or self._by_use.head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
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
        """Say whether an entry had expired when a prompt was matched last."""
        return bool(self._matched - entry.rank[0] > self._seconds)

    def _birth_of(self, entry: Entry) -> tuple[float, int]:
        """Return the start of its lifetime, or of that of the KV above it if that is earlier.

        Deeper entries come first among equals.
        """
        if isinstance(entry, Checkpoint):
            span, depth = entry.span, entry.position
        else:
            span, depth = entry.parent, entry.start
        birth = self._now
        if not self._refresh:  # else the request uses all that lies above, too
            while span.stop and span.policy_data is None:  # it enters with the entry
                span = span.parent
            if span.stop:
                birth = min(birth, span.rank[0])
        return birth, -depth

"""Conversations that have fallen silent go first."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.prefixed import PrefixEviction
from policies.orders.outlook import Outlook
from policies.orders.queue import Queue
from policies.orders.queue_view import QueueView
from policies.parameters import require
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class SessionAware(PrefixEviction):
    """Evict what belongs to a silent session alone; while there is none, the least recently used.

    A session is silent when it has not come back for several times the mean time between two
    requests of one session, counted in requests. What a second session has used (a system prompt,
    a document) belongs to none, and leaves by its last use. Without sessions, all do.

    Parameters
    ----------
    patience
        How many times the mean a session may wait.

    Source: none; the rule follows the finding that most reuse is within a session and soon, of
    J. Wang et al., "KVCache cache in the wild", USENIX ATC 2025, section 3.
    """

    def __init__(self, patience: float = 3.0) -> None:
        super().__init__()
        require(0 < patience < float("inf"), "patience", "a positive number", patience)
        self._patience = patience
        self._now = 0
        self._session = -1
        self._seen: dict[int, int] = {}  # when each session came last
        self._waits = self._waited = 0
        self._own, self._shared = Queue(), Queue()

    def observe(self, overlap: Overlap) -> None:
        """Learn how long sessions wait."""
        self._now += 1
        self._session = overlap.session
        if overlap.session >= 0:
            before = self._seen.get(overlap.session)
            if before is not None:
                self._waits += 1
                self._waited += self._now - before
            self._seen[overlap.session] = self._now

    def on_insert(self, entry: Entry) -> None:
        """Let it belong to the session."""
        entry.policy_data = self._session
        entry.rank = self._now
        (self._own if self._session >= 0 else self._shared).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent; it belongs to none where another session uses it."""
        entry.rank = self._now
        if entry.policy_data in {-1, self._session}:
            (self._own if entry.policy_data >= 0 else self._shared).touch(entry)
            return
        entry.policy_data = -1
        self._own.discard(entry)
        self._shared.push(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Give it its place again."""
        (self._own if entry.policy_data >= 0 else self._shared).on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        (self._own if entry.policy_data >= 0 else self._shared).discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Leave both parts where they stand."""
        upper.rank, upper.policy_data = lower.rank, lower.policy_data
        self._own.split(upper, lower)
        self._shared.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the least recent entry of the sessions if that one is silent, else of all."""
        return self._sooner(self._own.head(), self._shared.head())

    def victims(self) -> Iterator[Entry]:
        """Yield what would go, and change nothing."""
        outlook = Outlook()
        own, shared = (QueueView(queue, outlook) for queue in (self._own, self._shared))
        while (entry := self._sooner(own.head(), shared.head())) is not None:
            yield entry
            freed = outlook.let_go(entry)
            own.on_evictable(freed)
            shared.on_evictable(freed)

    def _sooner(self, own: Entry | None, shared: Entry | None) -> Entry | None:
        """Return which goes first of what a session has alone and of what is shared."""
        if own is None or shared is None:
            return own or shared
        silent = self._now - self._seen[own.policy_data]
        if silent * max(self._waits, 1) > self._patience * self._waited:
            return own
        return own if own.rank <= shared.rank else shared

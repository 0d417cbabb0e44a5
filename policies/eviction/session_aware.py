"""Eviction that lets go of silent conversations first."""

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
    """Evict what only a silent session has used; while there is none, the least recently used.

    A session is silent when it has not come back for several times the mean time between two
    requests of one session, counted in requests. What a second session has used (a system prompt,
    a document) belongs to no session, and leaves by its last use. Where no request has a session,
    this is `lru`.

    Parameters
    ----------
    patience
        How many times the mean a session may wait.

    Source: none; the rule follows the finding that most reuse is within a session and soon, of
    J. Wang et al., "KVCache cache in the wild", USENIX ATC 2025, section 3.

    Examples
    --------
    Session 0 has been silent for four requests, where one is usual; what is its own goes before an
    older document:

    >>> from policies.tryout import serve
    >>> prompts, sessions = ["doc", "A", "AA", "B", "BB", "BBB", "BBBB"], [-1, 0, 0, 1, 1, 1, 1]
    >>> serve(prompts, eviction="session_aware", sessions=sessions, capacity_bytes=14).kv
    ['A', 'BBBB', 'doc']
    >>> serve(prompts, eviction="lru", sessions=sessions, capacity_bytes=14).kv
    ['AA', 'BBBB', 'do']
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
        """Assign it to the session of the request."""
        entry.policy_data = self._session
        entry.rank = self._now
        (self._own if self._session >= 0 else self._shared).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent; once another session uses it, it belongs to none."""
        entry.rank = self._now
        if entry.policy_data in {-1, self._session}:
            (self._own if entry.policy_data >= 0 else self._shared).touch(entry)
            return
        entry.policy_data = -1
        self._own.discard(entry)
        self._shared.push(entry)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        (self._own if entry.policy_data >= 0 else self._shared).on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        (self._own if entry.policy_data >= 0 else self._shared).discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place."""
        upper.rank, upper.policy_data = lower.rank, lower.policy_data
        self._own.split(upper, lower)
        self._shared.split(upper, lower)

    def victim(self) -> Entry | None:
        """Return the least recent entry of one session if that is silent, else that of all."""
        return self._sooner(self._own.head(), self._shared.head())

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        outlook = Outlook()
        own, shared = (QueueView(queue, outlook) for queue in (self._own, self._shared))
        while (entry := self._sooner(own.head(), shared.head())) is not None:
            yield entry
            freed = outlook.let_go(entry)
            own.on_evictable(freed)
            shared.on_evictable(freed)

    def _sooner(self, own: Entry | None, shared: Entry | None) -> Entry | None:
        """Return the one to evict first, of an entry of one session and a shared one."""
        if own is None or shared is None:
            return own or shared
        silent = self._now - self._seen[own.policy_data]
        if silent * max(self._waits, 1) > self._patience * self._waited:
            return own
        return own if own.rank <= shared.rank else shared

"""LRU in two lists: one of states, one of KV."""

from __future__ import annotations

from collections.abc import Iterator

from policies.eviction.prefixed import PrefixEviction
from policies.orders.queue import Queue
from policies.orders.queue_view import leave_in_turn
from policies.parameters import require
from simulator.plugins.entries import Checkpoint, Entry, KvSpan

ORDERS, REFRESHES = ("kv", "states"), ("used", "path")


class SplitLru(PrefixEviction):
    """Evict from one list before the other, least recently used first in each.

    Parameters
    ----------
    first
        The list to evict from: "kv" or "states"; from the other only where this one has nothing
        evictable.
    refresh
        The states that a hit makes the most recent: the one "used", or all on the "path" of the
        prompt. KV is always refreshed along the path.
    parts
        Count a span that a prompt shares in part as used as a whole: where the prompt diverges
        inside it, the part behind becomes the most recent, too.

    Source: the two lists of SGLang's radix cache for hybrid models, where `parts` is the rule, as
    it is in Marconi's artifact; see `lru` for one order.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> prompts, sizes = ["aaaa", "bbbb", "cc"], {"capacity_bytes": 14, "state_bytes": 3}
    >>> served = serve(prompts, eviction="split_lru", **sizes)
    >>> served.states, served.kv  # the oldest KV leaves, with the state that needs it
    (['bbbb', 'cc'], ['aa', 'bbbb', 'cc'])
    >>> served = serve(prompts, eviction="split_lru:first=states", **sizes)
    >>> served.states, served.kv  # both older states leave, and no KV
    (['cc'], ['aaaa', 'bbbb', 'cc'])
    """

    def __init__(self, first: str = "kv", refresh: str = "used", parts: bool = False) -> None:
        super().__init__()
        require(first in ORDERS, "first", " or ".join(ORDERS), first)
        require(refresh in REFRESHES, "refresh", " or ".join(REFRESHES), refresh)
        self._refresh_path = refresh == "path"
        self._parts = parts
        self._kv, self._states = Queue(), Queue()
        lists = [self._kv, self._states]
        self._order = lists if first == "kv" else lists[::-1]

    def on_insert(self, entry: Entry) -> None:
        """Make it the most recent of its list."""
        self._list_of(entry).push(entry)

    def on_hit(self, entry: Entry) -> None:
        """Make it the most recent of its list, and perhaps the states of a span as well."""
        self._list_of(entry).touch(entry)
        if self._refresh_path and isinstance(entry, KvSpan):
            for checkpoint in reversed(entry.checkpoints):
                self._states.touch(checkpoint)

    def on_evictable(self, entry: Entry) -> None:
        """Make it a candidate again, at its old place."""
        self._list_of(entry).on_evictable(entry)

    def on_evict(self, entry: Entry) -> None:
        """Forget it."""
        self._list_of(entry).discard(entry)

    def on_split(self, upper: KvSpan, lower: KvSpan) -> None:
        """Keep both parts at their place, or make the lower the most recent."""
        self._kv.split(upper, lower)
        if self._parts:
            self._kv.touch(lower)

    def victim(self) -> Entry | None:
        """Return the least recent entry of the `first` list, else of the other."""
        return self._order[0].head() or self._order[1].head()

    def victims(self) -> Iterator[Entry]:
        """Yield the next victims in order; nothing changes."""
        return leave_in_turn(self._order)

    def _list_of(self, entry: Entry) -> Queue:
        return self._states if isinstance(entry, Checkpoint) else self._kv

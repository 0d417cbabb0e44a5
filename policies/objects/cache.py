"""A cache of sized objects, managed by an eviction policy."""

from __future__ import annotations

from typing import Any

from policies.foresight import NEVER
from simulator.base.errors import UsageError


class StoredObject:
    """An object of the stream as an entry for policies: evictable while it is cached."""

    __slots__ = ("evictable", "key", "next_use", "policy_data", "queued", "rank", "size_bytes")

    def __init__(self, number: int, size_bytes: int) -> None:
        self.key = number
        self.size_bytes = size_bytes
        self.evictable = False
        self.next_use = NEVER
        self.rank: Any = 0
        self.queued = 0
        self.policy_data: Any = None


class ObjectCache:
    """A cache of objects: its bytes and its eviction loop.

    Beside the hooks of the prefix cache a policy may have three: `on_miss` is told of a missing
    object before room is made; with `inserts_first` a new object enters before room is made, and
    may itself be evicted; `object_cache` is the class of a cache of its own.
    """

    def __init__(self, policy: Any, capacity_bytes: int) -> None:
        self.policy = policy
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        self._on_miss = getattr(policy, "on_miss", lambda _: None)
        self._inserts_first: bool = getattr(policy, "inserts_first", False)

    def request(self, entry: StoredObject, size_bytes: int) -> None:
        """Serve a request; an object whose size has changed is evicted and inserted again."""
        if entry.evictable and size_bytes == entry.size_bytes:
            self.policy.on_hit(entry)
            return
        if entry.evictable:
            self.evict(entry)
        entry.size_bytes = size_bytes
        if size_bytes > self.capacity_bytes:
            return
        self._on_miss(entry)
        if not self._inserts_first:
            self.make_room(size_bytes)
        self.enter(entry)
        if self._inserts_first:
            self.make_room(0)

    def enter(self, entry: StoredObject) -> None:
        """Insert an object."""
        self.used_bytes += entry.size_bytes
        entry.evictable = True
        self.policy.on_insert(entry)

    def make_room(self, size_bytes: int) -> None:
        """Evict until there is room for so many bytes."""
        while self.used_bytes + size_bytes > self.capacity_bytes:
            victim = self.policy.victim()
            if victim is None:
                raise without_victim(self.policy)
            self.evict(victim)

    def evict(self, entry: StoredObject) -> None:
        """Evict an object."""
        self.used_bytes -= entry.size_bytes
        entry.evictable = False
        self.policy.on_evict(entry)


def without_victim(policy: Any) -> UsageError:
    """Return the error for a policy that names no victim while an object needs room."""
    return UsageError(f"{name_of(policy)}: names no victim, though an object needs room")


def name_of(policy: Any) -> str:
    """Return the name of a policy for messages."""
    return f"eviction {type(policy).__name__}"

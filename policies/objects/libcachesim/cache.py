"""A flat cache that serves a request as libCacheSim does."""

from __future__ import annotations

from typing import Any, ClassVar

from policies.eviction.base import BaseEviction
from policies.objects.cache import ObjectCache, StoredObject
from simulator.base.errors import UsageError
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Entry


class LibCache(ObjectCache):
    """A cache whose policy may refuse objects, and may evict at any time.

    An object keeps the size with which it entered, whatever later requests say.
    """

    def __init__(self, policy: Any, capacity_bytes: int) -> None:
        super().__init__(policy, capacity_bytes)
        policy.cache = self

    def request(self, entry: StoredObject, size_bytes: int) -> None:
        """Serve a request."""
        policy = self.policy
        if entry.evictable:
            policy.on_hit(entry)
            return
        entry.size_bytes = size_bytes
        policy.on_miss(entry)
        if size_bytes <= self.capacity_bytes and policy.may_enter(entry):
            self.make_room(size_bytes)
            if policy.enters(entry):
                self.enter(entry)


class LibPolicy(BaseEviction):
    """Base class of the policies of a `LibCache`, with the hooks that it calls."""

    object_cache: ClassVar[type[ObjectCache]] = LibCache
    cache: Any  # the cache that it manages

    def begin(self, context: CacheContext) -> None:
        """Refuse the prefix cache.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError("the rules of libCacheSim are for `milepost objects` only")

    def may_enter(self, entry: Entry) -> bool:
        """Say whether room is to be made for a missing object."""
        del entry
        return True

    def enters(self, entry: Entry) -> bool:
        """Say whether it enters, now that there is room."""
        del entry
        return True

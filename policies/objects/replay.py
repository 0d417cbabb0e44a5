"""Replay of a stream of sized objects through a cache with an eviction policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.eviction.base import BaseEviction
from policies.eviction.belady import Belady
from policies.eviction.prefixed import PrefixEviction
from policies.foresight import NEVER
from policies.objects.cache import ObjectCache, StoredObject, name_of, without_victim
from policies.objects.stream import ObjectStream
from simulator.base.collector import collector_paused
from simulator.base.errors import UsageError
from simulator.plugins.protocols import EvictionPolicy


@dataclass(frozen=True, slots=True, eq=False)
class ObjectResult:
    """Hits and misses of a replay, in requests and in bytes.

    Parameters
    ----------
    hits, misses
        Requests that hit or missed.
    hit_bytes
        Bytes of the objects that were hit.
    hit
        bool, shape (requests,): which were hits.
    peak_bytes
        The most bytes in the cache at once, after a request.
    requested_bytes
        Bytes of all requests that count.
    """

    hits: int
    misses: int
    hit_bytes: int
    hit: NDArray[np.bool_]
    peak_bytes: int
    requested_bytes: int


def replay(
    stream: ObjectStream,
    policy: EvictionPolicy,
    capacity_bytes: int,
    *,
    uniform: bool = False,
    first: int = 0,
) -> ObjectResult:
    """Replay `stream` through a cache of `capacity_bytes` managed by `policy`.

    An object larger than the cache does not enter. Others enter when they are missed, after
    others were evicted to make room (with `policy.inserts_first`: before). A request for
    a resident object that has another size now is a hit; the object then leaves and enters anew in
    its new size, so that its old bytes make room first.

    Parameters
    ----------
    stream
        The requests.
    policy
        A new eviction policy.
    capacity_bytes
        0 or more.
    uniform
        Take every size for 1; the capacity then counts objects.
    first
        The first request that counts; those before it are warm-up.

    Raises
    ------
    UsageError
        If the capacity is negative, or the policy needs more than a plain stream, or names no
        victim while an object needs room.
    """
    if capacity_bytes < 0:
        raise UsageError(f"capacity: expected 0 bytes or more, found {capacity_bytes}")
    if uniform:
        stream = stream.uniform()
    _refuse_prefixes(policy)
    if isinstance(policy, BaseEviction):
        policy.start(capacity_bytes)
    objects = list(starmap(StoredObject, enumerate(stream.sizes().tolist())))
    hit = bytearray(len(stream))
    with collector_paused():
        peak_bytes = _serve(stream, objects, policy, capacity_bytes, hit)
    return _result(stream, np.frombuffer(hit, dtype=np.bool_), peak_bytes, first)


def _refuse_prefixes(policy: EvictionPolicy) -> None:
    """Refuse a policy that needs prefixes or a trace of prompts."""
    if isinstance(policy, PrefixEviction):
        problem = "this eviction policy needs prefixes; plain objects have none"
    elif policy.clairvoyant and not isinstance(policy, BaseEviction):
        problem = "this policy looks ahead in a trace of prompts; objects have none"
    else:
        return
    raise UsageError(f"{name_of(policy)}: {problem}")


def _serve(
    stream: ObjectStream,
    objects: list[StoredObject],
    policy: Any,
    capacity_bytes: int,
    hit: bytearray,
) -> int:
    requested: Iterable[StoredObject] = map(objects.__getitem__, stream.number.tolist())
    if isinstance(policy, Belady):
        policy.next_use = _next_use
        requested = _foreseen(requested, stream.next_uses(NEVER))
    if _is_plain(policy) and not stream.resized():
        return _serve_plain(requested, policy, capacity_bytes, hit)
    sized = zip(requested, stream.size_bytes.tolist(), strict=True)
    return _serve_with_hooks(sized, policy, capacity_bytes, hit)


def _is_plain(policy: EvictionPolicy) -> bool:
    """Say whether a policy uses none of the hooks of flat object mode."""
    on_miss = getattr(type(policy), "on_miss", BaseEviction.on_miss)
    others = (getattr(policy, hook, None) for hook in ("inserts_first", "object_cache"))
    return on_miss is BaseEviction.on_miss and not any(others)


def _serve_plain(
    requested: Iterable[StoredObject], policy: Any, capacity_bytes: int, hit: bytearray
) -> int:
    """Serve all requests with a policy that uses no hooks, fast; return the peak in bytes."""
    on_hit, on_insert, on_evict = policy.on_hit, policy.on_insert, policy.on_evict
    next_victim = policy.victim
    free = least_free = capacity_bytes
    for number, entry in enumerate(requested):
        if entry.evictable:
            hit[number] = 1
            on_hit(entry)
            continue
        size_bytes = entry.size_bytes
        if size_bytes > capacity_bytes:
            continue
        while size_bytes > free:
            victim = next_victim()
            if victim is None:
                raise without_victim(policy)
            free += victim.size_bytes
            victim.evictable = False
            on_evict(victim)
        free -= size_bytes
        entry.evictable = True
        on_insert(entry)
        if free < least_free:
            least_free = free
    return capacity_bytes - least_free


def _serve_with_hooks(
    requested: Iterable[tuple[StoredObject, int]], policy: Any, capacity_bytes: int, hit: bytearray
) -> int:
    """Serve all requests with any policy and changing sizes; return the peak in bytes."""
    cache = getattr(policy, "object_cache", ObjectCache)(policy, capacity_bytes)
    peak = 0
    for number, (entry, size_bytes) in enumerate(requested):
        hit[number] = entry.evictable
        cache.request(entry, size_bytes)
        if cache.used_bytes > peak:
            peak = cache.used_bytes
    return peak


def _foreseen(requested: Iterable[StoredObject], next_uses: list[int]) -> Iterator[StoredObject]:
    """Yield the objects, each with its next request noted in `next_use`."""
    for entry, next_use in zip(requested, next_uses, strict=True):
        entry.next_use = next_use
        yield entry


def _next_use(entry: Any) -> int:
    next_use: int = entry.next_use
    return next_use


def _result(
    stream: ObjectStream, hit: NDArray[np.bool_], peak_bytes: int, first: int
) -> ObjectResult:
    sizes, counted = stream.size_bytes[first:], hit[first:]
    hits = int(counted.sum())
    hit_bytes = int(sizes[counted].sum())
    misses = len(counted) - hits
    return ObjectResult(hits, misses, hit_bytes, hit, peak_bytes, int(sizes.sum()))

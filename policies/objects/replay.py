"""Replays a stream of sized objects through an eviction policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.eviction.base import BaseEviction
from policies.eviction.belady import Belady
from policies.foresight import NEVER
from policies.objects.stream import ObjectStream
from simulator.collector import collector_paused
from simulator.errors import UsageError
from simulator.protocols import EvictionPolicy


class StoredObject:
    """An object of the stream, as policies see it: an entry that is evictable while it is in."""

    __slots__ = ("evictable", "key", "next_use", "policy_data", "queued", "rank", "size_bytes")

    def __init__(self, number: int, size_bytes: int) -> None:
        self.key = number
        self.size_bytes = size_bytes
        self.evictable = False
        self.next_use = NEVER
        self.rank: Any = 0
        self.queued = 0
        self.policy_data: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class ObjectResult:
    """What a replay has found.

    Parameters
    ----------
    hits, misses
        Requests.
    hit_bytes
        Bytes of the hits.
    hit
        bool, shape (requests,): which were hits.
    peak_bytes
        The most bytes in the cache at once, after a request.
    """

    hits: int
    misses: int
    hit_bytes: int
    hit: NDArray[np.bool_]
    peak_bytes: int


def replay(
    stream: ObjectStream, policy: EvictionPolicy, capacity_bytes: int, *, uniform: bool = False
) -> ObjectResult:
    """Replay `stream` through a cache of `capacity_bytes` that `policy` rules.

    An object larger than the cache does not enter. Others enter when they are missed, after as
    many have left as must for it to fit (`policy.inserts_first`: before they leave).

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
    policy = _for_objects(policy)
    if isinstance(policy, BaseEviction):
        policy.start(capacity_bytes)
    objects = list(starmap(StoredObject, enumerate(stream.sizes().tolist())))
    hit = bytearray(len(stream))
    with collector_paused():
        peak_bytes = _serve(stream, objects, policy, capacity_bytes, hit)
    return _result(stream, np.frombuffer(hit, dtype=np.bool_), peak_bytes)


def _for_objects(policy: EvictionPolicy) -> EvictionPolicy:
    """Return the policy that is to be used, or refuse it by its name."""
    try:
        if isinstance(policy, BaseEviction):
            return policy.for_objects()
        if policy.clairvoyant:
            raise UsageError("this policy looks ahead in a trace of prompts; objects have none")
    except UsageError as error:
        raise UsageError(f"{_name_of(policy)}: {error}") from None
    return policy


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
    plain = not isinstance(policy, BaseEviction) or (
        type(policy).on_miss is BaseEviction.on_miss
        and policy.condemned is None
        and not policy.inserts_first
    )
    serve = _serve_plain if plain else _serve_with_hooks
    return serve(requested, policy, capacity_bytes, hit)


def _serve_plain(
    requested: Iterable[StoredObject], policy: Any, capacity_bytes: int, hit: bytearray
) -> int:
    """Serve a policy that needs none of the hooks; the tight loop. Return the peak in bytes."""
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
                raise _without_victim(policy)
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
    requested: Iterable[StoredObject], policy: Any, capacity_bytes: int, hit: bytearray
) -> int:
    """Serve any policy. Return the peak in bytes."""
    used = peak = 0
    room_is_made = policy.makes_room or policy.inserts_first

    def evict(victim: StoredObject | None) -> None:
        nonlocal used
        if victim is None:
            raise _without_victim(policy)
        used -= victim.size_bytes
        victim.evictable = False
        policy.on_evict(victim)

    for number, entry in enumerate(requested):
        size_bytes = entry.size_bytes
        if entry.evictable:
            hit[number] = 1
            policy.on_hit(entry)
        elif size_bytes <= capacity_bytes and policy.on_miss(entry):
            _drain(policy.condemned, evict)
            while not room_is_made and used + size_bytes > capacity_bytes:
                evict(policy.victim())
            used += size_bytes
            entry.evictable = True
            policy.on_insert(entry)
            while policy.inserts_first and used > capacity_bytes:
                evict(policy.victim())
        _drain(policy.condemned, evict)
        peak = max(peak, used)
    return peak


def _drain(condemned: list[StoredObject] | None, evict: Callable[[StoredObject], None]) -> None:
    """Evict what exceeds the policy's own limits."""
    while condemned:
        evict(condemned.pop(0))


def _without_victim(policy: Any) -> UsageError:
    return UsageError(f"{_name_of(policy)}: names no victim, though an object needs room")


def _name_of(policy: Any) -> str:
    return f"eviction {type(policy).__name__}"


def _foreseen(requested: Iterable[StoredObject], next_uses: list[int]) -> Iterator[StoredObject]:
    """Yield the objects, each knowing when it is requested again."""
    for entry, next_use in zip(requested, next_uses, strict=True):
        entry.next_use = next_use
        yield entry


def _next_use(entry: Any) -> int:
    next_use: int = entry.next_use
    return next_use


def _result(stream: ObjectStream, hit: NDArray[np.bool_], peak_bytes: int) -> ObjectResult:
    hits = int(hit.sum())
    hit_bytes = int(stream.size_bytes[hit].sum())
    return ObjectResult(hits, len(stream) - hits, hit_bytes, hit, peak_bytes)

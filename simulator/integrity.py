"""Recounts a cache from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from simulator.entry import Entry, KvRun
from simulator.errors import MilepostError
from simulator.runs import Runs
from simulator.store import Store


class IntegrityError(MilepostError):
    """The cache's books do not balance: a bug of Milepost."""


def check_integrity(runs: Runs, store: Store, pinned: Sequence[Entry]) -> None:
    """Compare the store's counts, the runs' links and the pins with a recount.

    Parameters
    ----------
    runs
        Every run, resident or not.
    store
        The counts to be checked.
    pinned
        What the running requests have pinned, once for each pin; empty when none runs.

    Raises
    ------
    IntegrityError
        Naming the first thing that does not agree.
    """
    pins = Counter(map(id, (runs.root, *pinned)))  # the root stays
    kv_bytes_per_token = store.sizes.kv_bytes_per_token
    children: dict[KvRun, int] = {}
    kv_tokens = checkpoints = 0
    for run in (existing := list(runs)):
        start, kv_end = run.start, run.kv_end
        if not start <= kv_end <= run.kv_admitted_end <= run.stop:
            raise _fault("KV lies outside its run")
        if run.size_bytes != (kv_end - start) * kv_bytes_per_token:
            raise _fault("the bytes of a run are miscounted")
        if run.checkpoints:
            _check_checkpoints(run, pins)
            checkpoints += len(run.checkpoints)
        if kv_end > start:
            parent = run.parent
            if parent.kv_end != parent.stop:
                raise _fault("KV has a hole above it")
            children[parent] = children.get(parent, 0) + 1
            kv_tokens += kv_end - start
    for run in (runs.root, *existing):
        if run.children_resident != children.get(run, 0):
            raise _fault("resident children are miscounted")
        if run.pins != pins.get(id(run), 0):
            raise _fault("the pins of a run are miscounted")
    _check_pool(store, kv_tokens, checkpoints)


def _check_pool(store: Store, kv_tokens: int, checkpoints: int) -> None:
    pool, capacity = store.pool, store.pool.capacity_bytes
    kv_bytes = kv_tokens * store.sizes.kv_bytes_per_token
    checkpoint_bytes = checkpoints * store.sizes.state_bytes
    _require(pool.kv_bytes == kv_bytes, f"{pool.kv_bytes} bytes of KV, recounted {kv_bytes}")
    _require(
        (pool.checkpoints, pool.checkpoint_bytes) == (checkpoints, checkpoint_bytes),
        f"{pool.checkpoint_bytes} bytes of checkpoints, recounted {checkpoint_bytes}",
    )
    if capacity is not None:
        used = kv_bytes + checkpoint_bytes
        _require(used <= capacity, f"{used} bytes exceed the capacity of {capacity}")
        _require(pool.free_bytes == capacity - used, "free bytes are miscounted")


def _check_checkpoints(run: KvRun, pins: Counter[int]) -> None:
    deepest = run.start
    for checkpoint in run.checkpoints:
        if checkpoint.position <= deepest:
            raise _fault("the checkpoints of a run are not ascending")
        deepest = checkpoint.position
        if checkpoint.pins != pins.get(id(checkpoint), 0):
            raise _fault("checkpoint pins are miscounted")
        if not checkpoint.resident or checkpoint.run is not run:
            raise _fault("a checkpoint is elsewhere")
    _require(deepest <= run.kv_end, "a checkpoint lacks its KV")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise _fault(problem)


def _fault(problem: str) -> IntegrityError:
    return IntegrityError(f"cache check failed: {problem}")

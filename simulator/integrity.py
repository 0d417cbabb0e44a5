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
    children: Counter[KvRun] = Counter()
    kv_tokens = checkpoints = 0
    for run in runs:
        problem = _run_problem(run, store.sizes.kv_bytes_per_token)
        if problem is None and (run.checkpoints or run.stored):
            problem = _checkpoint_problem(run, pins)
        _require(problem is None, problem or "")
        if run.kv_end > run.start:
            kv_tokens += run.kv_end - run.start
            checkpoints += len(run.checkpoints)
            children[run.parent] += 1
    for run in (runs.root, *runs):
        _require(run.children_resident == children[run], "resident children are miscounted")
        _require(run.pins == pins[id(run)], "a run's pins are miscounted")
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


def _run_problem(run: KvRun, kv_bytes_per_token: int) -> str | None:
    if not run.start <= run.kv_end <= run.kv_admitted_end <= run.stop:
        return "KV lies outside its run"
    if run.size_bytes != (run.kv_end - run.start) * kv_bytes_per_token:
        return "the bytes of a run are miscounted"
    if run.kv_end > run.start and run.parent.kv_end != run.parent.stop:
        return "KV has a hole above it"
    return None


def _checkpoint_problem(run: KvRun, pins: Counter[int]) -> str | None:
    positions = [checkpoint.position for checkpoint in run.checkpoints]
    if positions != sorted(set(positions)):
        return "the checkpoints of a run are not ascending"
    if positions and not run.start < positions[0] <= positions[-1] <= run.kv_end:
        return "a checkpoint lacks the KV before it"
    if not set(positions) <= set(run.stored):
        return "a checkpoint was never stored"
    for checkpoint in run.checkpoints:
        if checkpoint.pins != pins[id(checkpoint)]:
            return "the pins of a checkpoint are miscounted"
        if not checkpoint.resident or checkpoint.run is not run:
            return "a checkpoint is not where it should be"
    return None


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise IntegrityError(f"cache check failed: {problem}")

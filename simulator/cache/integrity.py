"""Recounts a cache from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter

from simulator.base.errors import MilepostError
from simulator.cache.residency import Store
from simulator.cache.tree import Runs
from simulator.plugins.entries import Entry, KvRun

_CHILDREN, _KV_END, _PARENT, _PINS, _SEEN, _START = map(
    attrgetter, ("children_resident", "kv_end", "parent", "pins", "children_seen", "start")
)


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
    existing = [runs.root, *runs]
    _check_cover(runs)
    kv_bytes_per_token = store.sizes.kv_bytes_per_token
    for run in existing:
        start, kv_end = run.start, run.kv_end
        if not start <= kv_end <= run.kv_admitted_end <= run.stop:
            raise _fault("KV lies outside its run")
        if run.parent.stop != start and run.stop:
            raise _fault("a run does not start where the one above it stops")
        if run.size_bytes != (kv_end - start) * kv_bytes_per_token and run.stop:
            raise _fault("the bytes of a run are miscounted")
    resident = [run for run in existing if run.kv_end > run.start and run.stop]
    parents = Counter(map(_PARENT, resident))
    for parent in parents:
        if parent.kv_end != parent.stop:
            raise _fault("KV has a hole above it")
    _check_counts("resident children", _CHILDREN, existing, parents)
    _require(sum(map(_SEEN, existing)) == len(existing) - 1, "the children are miscounted")
    held = Counter([runs.root, *pinned])  # the root stays
    _check_counts("pins of a run", _PINS, existing, _runs_only(held))
    stored = [run for run in existing if run.checkpoints and run.stop]
    for run in stored:
        _check_checkpoints(run, held)
    kv_tokens = sum(map(_KV_END, resident)) - sum(map(_START, resident))
    _check_pool(store, kv_tokens, sum(len(run.checkpoints) for run in stored))


def _check_cover(runs: Runs) -> None:
    """Check that each run covers a chain of nodes, and each node that was passed has one run."""
    covering, parents, stops = runs.covering(), runs.tree.parent.data, runs.tree.stop.data
    for node, (run, parent) in enumerate(zip(covering, parents, strict=True)):
        if run is None or not node:
            continue
        above = covering[parent]
        if above is not run and (above is not run.parent or above.node != parent):
            raise _fault("a run does not cover its nodes")
        if run.node == node and run.stop != stops[node]:
            raise _fault("a run does not end with its node")


def _check_counts(
    what: str, count_of: attrgetter[int], runs: list[KvRun], expected: Mapping[KvRun, int]
) -> None:
    """Compare a count of each run with what is expected, 0 where nothing is."""
    right = all(count_of(run) == count for run, count in expected.items())
    counts = list(map(count_of, runs))
    # None below 0, and the sum right: so all others are 0.
    right = right and min(counts) >= 0 and sum(counts) == sum(expected.values())
    _require(right, f"the {what} are miscounted")


def _runs_only(held: Counter[Entry]) -> dict[KvRun, int]:
    return {entry: count for entry, count in held.items() if isinstance(entry, KvRun)}


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


def _check_checkpoints(run: KvRun, held: Counter[Entry]) -> None:
    deepest = run.start
    for checkpoint in run.checkpoints:
        if checkpoint.position <= deepest:
            raise _fault("the checkpoints of a run are not ascending")
        deepest = checkpoint.position
        if checkpoint.pins != held.get(checkpoint, 0):
            raise _fault("checkpoint pins are miscounted")
        if not checkpoint.resident or checkpoint.run is not run:
            raise _fault("a checkpoint is elsewhere")
    _require(deepest <= run.kv_end, "a checkpoint lacks its KV")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise _fault(problem)


def _fault(problem: str) -> IntegrityError:
    return IntegrityError(f"cache check failed: {problem}")

"""A consistency check that recounts a cache from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from simulator.base.errors import MilepostError
from simulator.cache.interface import Layout
from simulator.cache.pool import Pool
from simulator.cache.request import Running
from simulator.cache.state_cap import StateCap
from simulator.cache.tree import KvTree
from simulator.plugins.entries import Entry, KvSpan


class IntegrityError(MilepostError):
    """An inconsistency in the cache's bookkeeping: a bug of Milepost."""


def check_integrity(
    tree: KvTree, layout: Layout, running: Sequence[Running] = (), cap: StateCap | None = None
) -> None:
    """Compare memory counters, links between KV spans, and pin counts with a recount.

    Parameters
    ----------
    tree
        All KV spans, resident or not.
    layout
        The pools whose counters are checked.
    running
        The running requests, whose pins and reserved memory are checked.
    cap
        The cap on states of a prefix, if there is one.

    Raises
    ------
    IntegrityError
        If anything differs; the message names the first difference.
    """
    _check_cover(tree)
    kv_bytes_per_token = layout.kv_bytes_per_token
    held = Counter([tree.root, *_pinned_by(running)])  # the root is always pinned
    # Number of resident children, by the node where a span ends (unique to the span).
    below = [0] * tree.prefixes.nodes
    kv_tokens = checkpoints = 0
    root = tree.root
    seen, pins = root.children_seen, root.pins
    spans = tree.made
    for span in spans:
        start, kv_end, stop, parent = span.start, span.kv_end, span.stop, span.parent
        if not start <= kv_end <= span.kv_admitted_end <= stop:
            raise _fault("KV lies outside its span")
        if parent.stop != start:
            raise _fault("a span does not start where the one above it stops")
        if span.size_bytes != (kv_end - start) * kv_bytes_per_token:
            raise _fault("the bytes of a span are miscounted")
        if kv_end > start:
            if parent.kv_end != start:
                raise _fault("KV has a hole above it")
            below[parent.node] += 1
            kv_tokens += kv_end - start
        if span.checkpoints:
            _check_checkpoints(span, held)
            checkpoints += len(span.checkpoints)
        if span.pins < 0:
            raise _fault("the pins of a span are miscounted")
        seen += span.children_seen
        pins += span.pins
    right = root.children_resident == below[root.node]
    for span in spans:
        right = right and span.children_resident == below[span.node]
    _require(right, "the resident children are miscounted")
    # Pin counts are non-negative and their sum is right, so all spans not in `pinned` have 0.
    pinned = {entry: count for entry, count in held.items() if isinstance(entry, KvSpan)}
    right = all(span.pins == count for span, count in pinned.items())
    _require(right and pins == sum(pinned.values()), "the pins of a span are miscounted")
    _require(seen == len(spans), "the children are miscounted")
    _check_pools(layout, kv_tokens, checkpoints, running)
    fault = None if cap is None else cap.fault(spans)
    _require(fault is None, fault or "")


def _pinned_by(running: Sequence[Running]) -> Iterator[Entry]:
    """Yield each entry that running requests have pinned, once per pin."""
    for one in running:
        checkpoint = one.match.checkpoint
        if checkpoint is not None:
            yield checkpoint.span
            yield checkpoint
        if one.pinned is not None:
            yield one.pinned


def _check_cover(spans: KvTree) -> None:
    """Check that KV spans cover chains of prefix-tree nodes, one span per visited node."""
    prefixes = spans.prefixes
    parents, stops = prefixes.parent.data, prefixes.stop.data
    covering = [spans.covering(node) for node in range(prefixes.nodes)]
    for node, (span, parent) in enumerate(zip(covering, parents, strict=True)):
        if span is None or not node:
            continue
        above = covering[parent]
        if above is not span and (above is not span.parent or above.node != parent):
            raise _fault("a span does not cover its nodes")
        if span.node == node and span.stop != stops[node]:
            raise _fault("a span does not end with its node")


def _check_pools(
    layout: Layout, kv_tokens: int, checkpoints: int, running: Sequence[Running]
) -> None:
    """Recount the bytes of KV and states, and the budget of each memory pool."""
    kv, states = layout.kv, layout.states
    kv_bytes = kv_tokens * layout.kv_bytes_per_token
    checkpoint_bytes = checkpoints * layout.state_bytes
    _require(kv.kv_bytes == kv_bytes, f"{kv.kv_bytes} bytes of KV, recounted {kv_bytes}")
    _require(
        (states.checkpoints, states.checkpoint_bytes) == (checkpoints, checkpoint_bytes),
        f"{states.checkpoint_bytes} bytes of checkpoints, recounted {checkpoint_bytes}",
    )
    held_bytes = sum(one.held_tokens for one in running) * layout.kv_bytes_per_token
    held_states_bytes = sum(one.held_states for one in running) * layout.state_bytes
    if kv is states:
        _check_budget(kv, kv_bytes + checkpoint_bytes, held_bytes + held_states_bytes)
    else:
        _check_budget(kv, kv_bytes, held_bytes)
        _check_budget(states, checkpoint_bytes, held_states_bytes)


def _check_budget(pool: Pool, stored_bytes: int, held_bytes: int) -> None:
    """Recount reserved and free bytes of a memory pool."""
    capacity = pool.capacity_bytes
    _require(pool.held_bytes == held_bytes, "the bytes that running requests hold are miscounted")
    if capacity is not None:
        used = stored_bytes + held_bytes
        _require(used <= capacity, f"{used} bytes exceed the capacity of {capacity}")
        _require(pool.free_bytes == capacity - used, "free bytes are miscounted")


def _check_checkpoints(span: KvSpan, held: Counter[Entry]) -> None:
    """Check the order, residency and pins of a KV span's checkpoints."""
    deepest = span.start
    for checkpoint in span.checkpoints:
        if checkpoint.position <= deepest:
            raise _fault("the checkpoints of a span are not ascending")
        deepest = checkpoint.position
        if checkpoint.pins != held.get(checkpoint, 0):
            raise _fault("checkpoint pins are miscounted")
        if not checkpoint.resident or checkpoint.span is not span:
            raise _fault("a checkpoint is elsewhere")
    _require(deepest <= span.kv_end, "a checkpoint lacks its KV")


def _require(holds: bool, problem: str) -> None:
    """Raise an IntegrityError with `problem` unless `holds`."""
    if not holds:
        raise _fault(problem)


def _fault(problem: str) -> IntegrityError:
    """Return the IntegrityError for a problem."""
    return IntegrityError(f"cache check failed: {problem}")

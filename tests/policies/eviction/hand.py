"""Runs and states set up by hand."""

from __future__ import annotations

from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext, Sizes
from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.protocols import Overlap
from simulator.trace.grid import Grid
from tests.simulator.prompts import toy_profile

# A token of KV is one byte and a state ten; n tokens take n seconds.
WORLD = CacheContext(Sizes(1, 10), Grid(), CostModel(toy_profile()), 1000)


def root():
    return KvSpan(None, -1, 0)


def span_below(parent, stop, node=0):
    """Return a resident span."""
    span = KvSpan(parent, parent.stop, stop, node)
    span.kv_end = stop
    span.size_bytes = stop - span.start
    parent.children_resident += 1
    parent.children_seen += 1
    return span


def state_in(span, position):
    """Return a resident state."""
    checkpoint = Checkpoint(span, position, 10)
    span.add(checkpoint)
    return checkpoint


def request(policy, prompt_tokens=1, depth=0, **known):
    policy.observe(Overlap(depth, prompt_tokens, **known))


def drop(policy, checkpoint):
    """Evict a state as the cache does."""
    checkpoint.resident = False
    checkpoint.span.remove(checkpoint)
    policy.on_evict(checkpoint)


def leaf_with_state(policy, stop, parent=None):
    """Tell of a span with a state at its end."""
    span = span_below(root() if parent is None else parent, stop)
    checkpoint = state_in(span, stop)
    policy.on_insert(span)
    policy.on_insert(checkpoint)
    return span, checkpoint


def drop_path(policy, span, *checkpoints):
    """Evict a span with its states as the cache does."""
    span.kv_end = span.start
    for checkpoint in checkpoints:
        drop(policy, checkpoint)
    policy.on_evict(span)

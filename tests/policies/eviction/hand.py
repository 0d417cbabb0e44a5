"""Runs and states set up by hand."""

from __future__ import annotations

from simulator.costs.cost_model import CostModel
from simulator.plugins.context import Sizes, World
from simulator.plugins.entries import Checkpoint, KvRun
from simulator.plugins.protocols import Overlap
from simulator.trace.grid import Grid
from tests.simulator.prompts import toy_profile

# A token of KV is one byte and a state ten; n tokens take n seconds.
WORLD = World(Sizes(1, 10), Grid(), CostModel(toy_profile()), 1000)


def root():
    return KvRun(None, -1, 0)


def run_below(parent, stop, node=0):
    """Return a resident run."""
    run = KvRun(parent, parent.stop, stop, node)
    run.kv_end = stop
    run.size_bytes = stop - run.start
    parent.children_resident += 1
    parent.children_seen += 1
    return run


def state_in(run, position):
    """Return a resident state."""
    checkpoint = Checkpoint(run, position, 10)
    run.add(checkpoint)
    return checkpoint


def request(policy, prompt_tokens=1, depth=0, **known):
    policy.observe(Overlap(depth, prompt_tokens, **known))


def drop(policy, checkpoint):
    """Evict a state as the cache does."""
    checkpoint.resident = False
    checkpoint.run.remove(checkpoint)
    policy.on_evict(checkpoint)


def leaf_with_state(policy, stop, parent=None):
    """Tell of a run with a state at its end."""
    run = run_below(root() if parent is None else parent, stop)
    checkpoint = state_in(run, stop)
    policy.on_insert(run)
    policy.on_insert(checkpoint)
    return run, checkpoint


def drop_path(policy, run, *checkpoints):
    """Evict a run with its states as the cache does."""
    run.kv_end = run.start
    for checkpoint in checkpoints:
        drop(policy, checkpoint)
    policy.on_evict(run)

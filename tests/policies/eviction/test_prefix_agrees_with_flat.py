"""Where prompts share nothing, the prefix cache is a cache of objects: the same ones must stay."""

from __future__ import annotations

import numpy as np
import pytest

from policies.eviction import EVICTION
from policies.eviction.prefixed import PrefixEviction
from policies.objects import ObjectStream, replay
from policies.placement.none import NoPlacer
from policies.registry import create
from tests.simulator import replays

# In flat object mode a new object of gdsf enters before room is made, and may leave at once.
CLASSIC = [
    name
    for name, policy in sorted(EVICTION.items())
    if not issubclass(policy, PrefixEviction) and name != "gdsf"
]
SHARES = ["two_q:queue=0.5,memory=0.5", "s3fifo:small=0.4,memory=0.6", "lirs:hir=0.4"]
SHARES += ["wtinylfu:window=0.3", "slru:protected=0.5"]


def resident(spec, objects, capacity):
    """Return for each of the objects, prompts of one token, whether its KV was there."""
    prompts, eviction = [(token,) for token in objects], lambda: create("eviction", spec)
    how = {"eviction": eviction, "capacity_bytes": capacity, "server": "instant"}
    return (replays.replay(prompts, None, NoPlacer, **how).columns["kv_tokens"] > 0).tolist()


@pytest.mark.parametrize("spec", [*CLASSIC, *SHARES])
def test_the_same_objects_stay(spec):
    rng = np.random.default_rng(7)
    for _ in range(40):
        objects, capacity = rng.integers(0, 8, 60).tolist(), int(rng.integers(1, 7))
        stream = ObjectStream.of(objects, [1] * len(objects))
        flat = replay(stream, create("eviction", spec), capacity).hit.tolist()
        assert resident(spec, objects, capacity) == flat, (objects, capacity)


def test_arc_adapts_before_it_makes_room():
    # A used twice: T2 A, T1 B. C takes B (B1). B returns: target 1, so that A leaves and not C.
    assert resident("arc", [0, 1, 0, 2, 1, 2], 2) == [False, False, True, False, False, True]


def test_two_q_looks_for_a_span_before_others_are_remembered():
    # A1in AB. C: A leaves, and is the one remembered. A returns, B leaves and A is in Am.
    # D takes A, since A1in has its share alone.
    spec = "two_q:queue=0.5,memory=0.5"
    assert resident(spec, [0, 1, 2, 0, 3, 0], 2) == [False] * 6

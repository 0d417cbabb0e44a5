"""`check()` notices every kind of fault that is planted."""

from __future__ import annotations

import pytest

from policies.admission import ADMISSION
from policies.eviction import EVICTION
from simulator.cache.integrity import IntegrityError
from simulator.cache.policy_cache import PolicyCache
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext, Sizes
from simulator.trace.grid import Grid
from tests.simulator.placers import Wanted
from tests.simulator.prompts import toy_profile, trace_of

PROMPTS = [(1, 2, 3, 4), (1, 2, 5, 6, 7)]


def filled_cache():
    trace = trace_of([*PROMPTS, (1,)])  # the last one is still to come
    cache = PolicyCache(
        trace,
        CacheContext(Sizes(1, 10), Grid(), CostModel(toy_profile()), 100),
        Wanted(2, 4),
        ADMISSION["always"](),
        EVICTION["lru"](),
    )
    for request in range(len(PROMPTS)):
        grant = cache.admit(request)
        cache.check()
        cache.publish(grant, 0.0)
        cache.release(grant)
    cache.check()
    return cache, {(span.start, span.stop): span for span in cache.tree}


def shorten_inner_span(cache, spans):
    inner = spans[0, 2]
    inner.kv_end = inner.size_bytes = 1
    inner.checkpoints = ()


def move_beyond_the_kv(cache, spans):
    spans[2, 4].checkpoints[0].position = 9


FAULTS = {
    "KV": lambda cache, spans: setattr(cache.store.pool, "kv_bytes", 3),
    "checkpoints, recounted": lambda cache, spans: setattr(cache.store.pool, "checkpoints", 9),
    "exceed": lambda cache, spans: setattr(cache.store.pool, "capacity_bytes", 20),
    "free bytes": lambda cache, spans: setattr(cache.store.pool, "free_bytes", 1),
    "hole": shorten_inner_span,
    "outside": lambda cache, spans: setattr(spans[2, 4], "kv_end", 5),
    "bytes of a span": lambda cache, spans: setattr(spans[2, 4], "size_bytes", 5),
    "resident children": lambda cache, spans: setattr(spans[0, 2], "children_resident", 1),
    "pins of a span": lambda cache, spans: setattr(spans[0, 2], "pins", 1),
    "checkpoint pins": lambda cache, spans: setattr(spans[0, 2].checkpoints[0], "pins", 1),
    "lacks its KV": move_beyond_the_kv,
    "elsewhere": lambda cache, spans: setattr(spans[2, 4].checkpoints[0], "span", spans[0, 2]),
    "the children are": lambda cache, spans: setattr(spans[0, 2], "children_seen", 1),
    "cover its nodes": lambda cache, spans: cache.tree._spans.__setitem__(1, None),
    "end with its node": lambda cache, spans: setattr(spans[2, 4], "stop", 5),
    "where the one above": lambda cache, spans: setattr(spans[2, 4], "start", 1),
    "ascending": lambda cache, spans: spans[0, 2].checkpoints.append(spans[0, 2].checkpoints[0]),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_planted_fault_is_found(message):
    cache, spans = filled_cache()
    FAULTS[message](cache, spans)
    with pytest.raises(IntegrityError, match=message):
        cache.check()

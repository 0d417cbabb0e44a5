"""`check()` notices every kind of fault that is planted."""

from __future__ import annotations

import pytest

from simulator.cache.integrity import IntegrityError
from tests.simulator.caches import begin, cache_of, finish
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of

PROMPTS = [(1, 2, 3, 4), (1, 2, 5, 6, 7)]


def filled_cache():
    trace = trace_of([*PROMPTS, (1,)])  # the last one is still to come
    cache = cache_of(trace, Wanted(2, 4), capacity_bytes=100)
    for request in range(len(PROMPTS)):
        running = begin(cache, request)
        cache.check()
        finish(cache, running)
    return cache, {(span.start, span.stop): span for span in cache.tree}


def shorten_inner_span(cache, spans):
    inner = spans[0, 2]
    inner.kv_end = inner.size_bytes = 1
    inner.checkpoints = ()


def move_beyond_the_kv(cache, spans):
    spans[2, 4].checkpoints[0].position = 9


FAULTS = {
    "KV": lambda cache, spans: setattr(cache.pools["unified"], "kv_bytes", 3),
    "checkpoints, recounted": lambda cache, spans: setattr(
        cache.pools["unified"], "checkpoints", 9
    ),
    "exceed": lambda cache, spans: setattr(cache.pools["unified"], "capacity_bytes", 20),
    "free bytes": lambda cache, spans: setattr(cache.pools["unified"], "free_bytes", 1),
    "requests hold": lambda cache, spans: cache.pools["unified"].hold(1),
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

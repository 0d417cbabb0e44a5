"""Speed of eviction policies on flat object streams, without prefixes.

Run it by `python -m pytest benchmarks/bench_objects.py`.

A round replays 200,000 requests, so 0.2 s is a million requests a second. `test_plain_ordered_dict`
is the baseline: an LRU cache of objects of equal size, without any policy object.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from policies.eviction import EVICTION
from policies.eviction.prefixed import PrefixEviction
from policies.objects import ObjectStream, replay
from policies.registry import create

REQUESTS = 200_000
OBJECTS = 20_000


def zipf_stream() -> ObjectStream:
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, OBJECTS + 1) ** 0.9
    ids = rng.choice(OBJECTS, REQUESTS, p=weights / weights.sum())
    sizes = rng.integers(1, 200, OBJECTS)
    return ObjectStream.of(ids, sizes[ids])


STREAM = zipf_stream()
FLAT = [name for name, policy in EVICTION.items() if not issubclass(policy, PrefixEviction)]


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
@pytest.mark.parametrize("name", FLAT)
def test_replay(benchmark: BenchmarkFixture, name: str, share: float) -> None:
    capacity_bytes = int(STREAM.sizes().sum() * share)

    def run() -> None:
        result = replay(STREAM, create("eviction", name), capacity_bytes)
        benchmark.extra_info["hit rate"] = round(result.hits / REQUESTS, 3)

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["requests/s"] = round(REQUESTS / benchmark.stats.stats.min)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
def test_plain_ordered_dict(benchmark: BenchmarkFixture, share: float) -> None:
    numbers = STREAM.number.tolist()
    most = int(OBJECTS * share)

    def run() -> int:
        order: OrderedDict[int, None] = OrderedDict()
        hits = 0
        for number in numbers:
            if number in order:
                hits += 1
                order.move_to_end(number)
            else:
                if len(order) == most:
                    order.popitem(last=False)
                order[number] = None
        return hits

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["requests/s"] = round(REQUESTS / benchmark.stats.stats.min)

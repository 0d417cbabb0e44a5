"""How time and memory grow: each is measured at three sizes, and the exponent is printed."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from simulator.simulation import Scenario, simulate
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace

GIB = 2**30
TURN = 100  # tokens


def trace_of(parents, lengths, arrival_seconds, leaf=None) -> Trace:
    """Return a trace with a request at every node below the root, or at those of `leaf`."""
    parents, lengths = np.array(parents, np.int32), np.array(lengths, np.int64)
    stop = np.zeros(len(parents) + 1, np.int64)
    for node, (parent, length) in enumerate(zip(parents.tolist(), lengths.tolist(), strict=True)):
        stop[node + 1] = stop[parent] + length
    parent = np.concatenate(([-1], parents)).astype(np.int32)
    start = np.concatenate(([0], stop[parents]))
    leaf = np.arange(1, len(parent), dtype=np.int32) if leaf is None else np.array(leaf, np.int32)
    unknown = np.full(len(leaf), -1, np.int32)
    return Trace(
        "growth",
        PrefixTree(parent, start, stop),
        leaf,
        np.broadcast_to(np.array(arrival_seconds, float), len(leaf)).copy(),
        np.zeros(len(leaf), np.int64),
        unknown,
        unknown,
    )


def chain(turns: int) -> Trace:
    """One session: each prompt continues the one before."""
    return trace_of(range(turns), [TURN] * turns, np.arange(turns) * 60.0)


def instant(requests: int) -> Trace:
    """All requests at one instant, below one long system prompt that some leave on its way."""
    parents = [0] + [1 + (number % 50 == 49) * 0 for number in range(requests)]
    return trace_of(parents, [5000] + [TURN] * requests, 0.0)


def forks(requests: int) -> Trace:
    """One long document; each later prompt leaves it at another place, from its end upwards."""
    trunk = list(range(requests))
    leaves = [requests - 1 - number for number in range(requests - 1)]
    leaf = [requests, *range(requests + 1, 2 * requests)]
    lengths = [TURN] * (2 * requests - 1)
    return trace_of(trunk + leaves, lengths, np.arange(requests) * 60.0, leaf)


def states(count: int) -> Trace:
    """One document that comes twenty times, with so many states in one span."""
    return trace_of([0], [64 * count], np.arange(20) * 60.0, [1] * 20)


def scenario(placer: str, capacity_bytes: int | None, eviction: str = "lru") -> Scenario:
    """Return a scenario on the queue server."""
    return Scenario(
        open_profile("qwen3.5-9b-h200"),
        lambda: create("placer", placer),
        lambda: create("eviction", eviction),
        lambda: create("admission", "always"),
        capacity_bytes,
    )


def exponent(sizes: list[int], amounts: list[float]) -> float:
    """Return the slope of the amounts over the sizes, both as logarithms."""
    return round(float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0]), 2)


def measure(benchmark, sizes: list[int], make: Callable[[int], Trace], plan: Scenario) -> None:
    """Time the largest size, and print how time and memory grow up to it."""
    seconds, peaks = [], []
    for size in sizes:
        trace, best = make(size), float("inf")
        for _ in range(2):
            begin = time.process_time()
            simulate(trace, plan)
            best = min(best, time.process_time() - begin)
        seconds.append(best)
        tracemalloc.start()
        simulate(trace, plan)
        peaks.append(float(tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    benchmark.pedantic(simulate, args=(make(sizes[-1]), plan), rounds=1)
    benchmark.extra_info |= {
        "time_exponent": exponent(sizes, seconds),
        "memory_exponent": exponent(sizes, peaks),
        "seconds": [round(second, 3) for second in seconds],
    }
    print(
        f"\n{benchmark.name}: time ~ n^{exponent(sizes, seconds)}, memory ~ "
        f"n^{exponent(sizes, peaks)}, {seconds[-1]:.2f} s at {sizes[-1]:,}"
    )


CASES = [
    ("last", None),
    ("last", 8 * GIB),
    ("branch", 8 * GIB),
    ("block:size=4096", 8 * GIB),
    ("adaptive", None),
    ("adaptive", 8 * GIB),
]


@pytest.mark.parametrize(("placer", "capacity"), CASES)
def test_turns_of_a_chain(benchmark, placer, capacity):
    measure(benchmark, [2500, 5000, 10_000], chain, scenario(placer, capacity and 64 * GIB))


@pytest.mark.parametrize(("placer", "capacity"), CASES)
def test_requests_of_one_instant(benchmark, placer, capacity):
    measure(benchmark, [25_000, 50_000, 100_000], instant, scenario(placer, capacity))


@pytest.mark.parametrize(("placer", "capacity"), CASES)
def test_spans_made(benchmark, placer, capacity):
    measure(benchmark, [2500, 5000, 10_000], forks, scenario(placer, capacity))


@pytest.mark.parametrize("eviction", ["lru", "coverage", "value", "marconi:alpha=1"])
def test_states_of_one_span(benchmark, eviction):
    measure(benchmark, [1000, 2000, 4000], states, scenario("block:size=64", 40 * GIB, eviction))

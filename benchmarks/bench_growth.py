"""Growth of time and memory with the size of the input, as the exponent fitted to three sizes."""

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
BLOCK = 64  # tokens between states
PROFILE = open_profile("qwen3.5-9b-h200")


def trace_of(parents, lengths, arrival_seconds, leaf=None) -> Trace:
    """Return a trace with a request for every node below the root, or for those in `leaf`."""
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
    """Return a trace of one session: each prompt continues the one before."""
    return trace_of(range(turns), [TURN] * turns, np.arange(turns) * 60.0)


def instant(requests: int) -> Trace:
    """Return simultaneous requests with a long system prompt; some diverge in its middle."""
    parents = [0, 1] + [1 if number % 50 == 49 else 2 for number in range(requests)]
    lengths = [2500, 2500] + [TURN] * requests
    return trace_of(parents, lengths, 0.0, range(3, requests + 3))


def forks(requests: int) -> Trace:
    """Return a trace of one long document and prompts that diverge from it ever earlier."""
    trunk = list(range(requests))
    leaves = [requests - 1 - number for number in range(requests - 1)]
    leaf = [requests, *range(requests + 1, 2 * requests)]
    lengths = [TURN // 10] * (2 * requests - 1)
    return trace_of(trunk + leaves, lengths, np.arange(requests) * 60.0, leaf)


def states(count: int) -> Trace:
    """Return a trace that cycles six times through three documents of `count` states each."""
    return trace_of([0] * 3, [BLOCK * count] * 3, np.arange(18) * 60.0, [1, 2, 3] * 6)


def scenario(placer: str, capacity_bytes: int | None, eviction: str = "lru") -> Scenario:
    """Return a scenario with the queue server."""
    return Scenario(
        PROFILE,
        lambda: create("placer", placer),
        lambda: create("eviction", eviction),
        lambda: create("admission", "always"),
        capacity_bytes,
    )


def crowded(count: int, eviction: str) -> Scenario:
    """Return a scenario whose cache fits one and a half of the documents of `states(count)`."""
    document_bytes = count * (PROFILE.state_bytes + BLOCK * PROFILE.kv_bytes_per_token)
    return scenario(f"block:size={BLOCK}", 3 * document_bytes // 2, eviction)


def exponent(sizes: list[int], amounts: list[float]) -> float:
    """Return the fitted slope of log amounts over log sizes."""
    return round(float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0]), 2)


def measure(
    benchmark, sizes: list[int], make: Callable[[int], Trace], plan: Callable[[int], Scenario]
) -> None:
    """Record and print the exponents of time and memory; large sizes measure memory at a third."""
    seconds, peaks = [], []

    def timed(trace: Trace, size: int) -> None:
        begin = time.process_time()
        simulate(trace, plan(size))
        seconds[-1] = min(seconds[-1], time.process_time() - begin)

    for size in sizes:
        seconds.append(float("inf"))
        if size < sizes[-1]:
            for _ in range(2):
                timed(make(size), size)
        else:
            benchmark.pedantic(timed, args=(make(size), size), rounds=2)
        held = size // 3 if size > 10_000 else size  # measuring memory is slow
        trace = make(held)
        tracemalloc.start()
        simulate(trace, plan(held))
        peaks.append(float(tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    time_exponent, memory_exponent = exponent(sizes, seconds), exponent(sizes, peaks)
    benchmark.extra_info |= {
        "time_exponent": time_exponent,
        "memory_exponent": memory_exponent,
        "seconds": [round(second, 3) for second in seconds],
    }
    print(
        f"\n{benchmark.name}: time ~ n^{time_exponent}, memory ~ n^{memory_exponent}, "
        f"{seconds[-1]:.2f} s at {sizes[-1]:,}"
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
    plan = scenario(placer, capacity and 64 * GIB)
    measure(benchmark, [2500, 5000, 10_000], chain, lambda _: plan)


@pytest.mark.parametrize(("placer", "capacity"), CASES)
def test_requests_of_one_instant(benchmark, placer, capacity):
    plan = scenario(placer, capacity)
    measure(benchmark, [25_000, 50_000, 100_000], instant, lambda _: plan)


@pytest.mark.parametrize(("placer", "capacity"), CASES)
def test_spans_made(benchmark, placer, capacity):
    plan = scenario(placer, capacity)
    measure(benchmark, [2500, 5000, 10_000], forks, lambda _: plan)


@pytest.mark.parametrize("eviction", ["lru", "coverage", "value", "marconi:alpha=1"])
def test_states_of_one_span(benchmark, eviction):
    measure(benchmark, [1000, 2000, 4000], states, lambda count: crowded(count, eviction))

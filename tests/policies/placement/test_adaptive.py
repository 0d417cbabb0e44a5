"""What `adaptive` learns, on traffic made by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from calibration.catalogue import open_profile
from policies.placement.adaptive import Adaptive
from policies.placement.adaptive_rule import ENDLESS, reach_tokens
from policies.placement.price import Price
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.plugins.context import CacheContext, Sizes
from simulator.plugins.protocols import Overlap, Placer
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from tests.contracts.prefixes import build_prefix, place

PROFILE = open_profile("qwen3.5-9b-h200")


def trace_of(parents: list[int], stops: list[int], leaves: list[int]) -> Trace:
    """Return requests over nodes 1, 2, ... with these parents and stops."""
    parent = np.array([-1, *parents], np.int32)
    stop = np.array([0, *stops], np.int64)
    start = np.where(parent >= 0, stop[parent], 0)
    count = len(leaves)
    unknown = np.full(count, -1, np.int32)
    return Trace(
        name="made",
        tree=PrefixTree(parent, start, stop),
        leaf=np.array(leaves, np.int32),
        arrival_seconds=None,
        output_tokens=np.zeros(count, np.int64),
        session=unknown,
        label=unknown,
    )


def written(trace: Trace, placer: Callable[[], Placer]) -> list[int]:
    scenario = Scenario(
        profile=PROFILE,
        placer=placer,
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        server="instant",
        alignment=1,
    )
    result = simulate(trace, scenario)
    return [int(count) for count in result.columns["checkpoints_written"]]


def documents(count: int, questions: int) -> Trace:
    """Documents of 4,000 to 7,000 tokens, each with questions of 40 to 140 tokens."""
    parents: list[int] = []
    stops: list[int] = []
    leaves: list[int] = []
    for document in range(count):
        parents.append(0)
        length = 4000 + document * 1130 % 3000
        stops.append(length)
        node = len(parents)
        for question in range(questions):
            parents.append(node)
            stops.append(length + 40 + (document * 37 + question * 17) % 101)
            leaves.append(len(parents))
    return trace_of(parents, stops, leaves)


def chats(count: int, turns: int) -> Trace:
    """Chats whose every turn continues the one before by 1,000 tokens."""
    parents = [turn and chat * turns + turn for chat in range(count) for turn in range(turns)]
    stops = [1000 * (turn + 1) for _ in range(count) for turn in range(turns)]
    return trace_of(parents, stops, list(range(1, len(parents) + 1)))


def test_questions_about_documents_are_served_from_the_second_on() -> None:
    trace = documents(60, 5)
    placer = Adaptive()
    counts = written(trace, lambda: placer)
    assert placer.coordinate() == "end"
    # One state before the questions, one where the second diverges, and no more ends but a few.
    assert sum(counts[150:]) <= 3 * 30
    assert all(counts[i] >= 1 for i in range(150, 300, 5))
    assert sum(counts[i] for i in range(150, 300) if i % 5 >= 2) <= 5


def test_chats_are_served_from_their_ends() -> None:
    counts = written(chats(40, 6), Adaptive)
    assert all(count >= 1 for count in counts[:100])


def test_the_rate_of_new_checkpoints_is_held() -> None:
    counts = written(chats(400, 4), partial(Adaptive, rate=0.5))
    assert 0.3 <= np.mean(counts[400:]) <= 0.6


def test_a_span_that_another_prompt_will_split_tells_nothing() -> None:
    # The tree knows where the second prompt will diverge; a placer must not.
    split = trace_of([0, 1, 1], [3000, 5000, 5100], [2, 3])
    whole = trace_of([0, 0], [5000, 5100], [1, 2])
    assert written(split, Adaptive)[0] == written(whole, Adaptive)[0]


def context(capacity_bytes: int | None) -> CacheContext:
    sizes = Sizes(PROFILE.kv_bytes_per_token, PROFILE.state_bytes)
    return CacheContext(sizes, Grid(), CostModel(PROFILE), capacity_bytes)


def test_the_deepest_position_that_a_cache_can_hold() -> None:
    state, kv = PROFILE.state_bytes, PROFILE.kv_bytes_per_token
    assert reach_tokens(context(None)) == ENDLESS
    assert reach_tokens(context(state + 100 * kv)) == 100
    assert reach_tokens(context(state + 100 * kv - 1)) == 99
    assert reach_tokens(context(state - 1)) == 0


def test_a_prompt_that_does_not_fit_is_given_one_state_within_reach() -> None:
    placer = Adaptive()
    placer.begin(context(PROFILE.state_bytes + 3000 * PROFILE.kv_bytes_per_token))
    assert list(place(placer, build_prefix([2500]))) == [2500 - 256, 2500]
    assert list(place(placer, build_prefix([9000]))) == [3000]
    assert list(place(placer, build_prefix([9000], resume=3000))) == []


def test_bytes_are_free_until_something_useful_was_evicted() -> None:
    price = Price(rate=1.0)
    price.begin(context(10**9))
    work = price.tokens
    assert 1.0 <= work < 10
    for _ in range(200):  # nothing known, nothing lost
        price.observe(Overlap(0, 1000, kv_depth=0, resume=0, written=0))
    assert price.tokens == work
    for _ in range(200):  # half of each prompt saved, half lost
        price.observe(Overlap(999, 1000, kv_depth=500, resume=500, written=0))
    recent = PROFILE.state_bytes / PROFILE.kv_bytes_per_token
    assert price.tokens == pytest.approx(0.4 * recent, rel=0.5)


def test_in_an_unbounded_cache_bytes_are_free() -> None:
    price = Price(rate=1.0)
    price.begin(context(None))
    work = price.tokens
    for _ in range(500):
        price.observe(Overlap(999, 1000, kv_depth=500, resume=500, written=1))
    assert price.tokens == work


def test_too_many_checkpoints_raise_the_price_and_few_lower_it_again() -> None:
    price = Price(rate=1.0)
    price.begin(context(None))
    work = price.tokens
    for _ in range(200):
        price.observe(Overlap(0, 1000, kv_depth=0, written=2))
    assert price.tokens > 100 * work
    for _ in range(300):
        price.observe(Overlap(0, 1000, kv_depth=0, written=0))
    assert price.tokens == work


@pytest.mark.parametrize("rate", ["0", "-1", "1e7"])
def test_bad_rates_are_named(rate: str) -> None:
    with pytest.raises(UsageError, match="rate: expected above 0 and at most 1000000"):
        create("placer", f"adaptive:rate={rate}")

"""Placement with foresight: against all sets of prefixes, and against every other policy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from policies.placement.holding import best_holding
from policies.placement.tree_law import law_of_trace
from policies.placement.tree_solver import solve_tree
from policies.registry import create
from simulator.plugins.context import Sizes
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.grid import Grid
from simulator.trace.trace import Trace
from tests.contracts.prefixes import build_prefix, place
from tests.simulator.prompts import Prompt, toy_profile, trace_of

ONLINE = ("last", "branch", "block:size=2", "optimal:budget=2")


def random_prompts(rng: np.random.Generator, most: int, longest: int) -> list[Prompt]:
    """Return prompts of which many share a beginning, and some are told again."""
    prompts: list[Prompt] = []
    for _ in range(int(rng.integers(1, most + 1))):
        start: Prompt = ()
        if prompts and rng.random() < 0.8:
            other = prompts[int(rng.integers(len(prompts)))]
            start = other[: int(rng.integers(len(other) + 1))]
        more = rng.integers(0, 2, int(rng.integers(0, longest - len(start) + 1))).tolist()
        prompts.append((*start, *more) or (0,))
    return prompts


def replay(
    trace: Trace,
    placer: str,
    alignment: int = 1,
    *,
    capacity_bytes: int | None = None,
    eviction: str = "lru",
    server: str = "instant",
    queue_limit: int | None = None,
) -> Result:
    return simulate(
        trace,
        Scenario(
            profile=toy_profile(kv_bytes=1, state_bytes=3),
            placer=lambda: create("placer", placer),
            eviction=lambda: create("eviction", eviction),
            admission=lambda: create("admission", "always"),
            capacity_bytes=capacity_bytes,
            server=server,
            alignment=alignment,
            queue_limit=queue_limit,
        ),
    )


def saved(result: Result) -> int:
    return int(result.columns["saved_tokens"].sum())


def best_set(prompts: list[Prompt], step: int, budget: int) -> int:
    """Return what the best set of prefixes saves, each usable after its first prompt."""
    reached = {p[:end] for p in prompts for end in range(step, len(p) + 1, step)}
    best = 0
    for size in range(min(budget, len(reached)) + 1):
        for chosen in combinations(sorted(reached), size):
            total, seen = 0, set()
            for prompt in prompts:
                usable = [c for c in chosen if c in seen and prompt[: len(c)] == c]
                total += max((len(c) for c in usable if len(c) < len(prompt)), default=0)
                seen |= {prompt[:end] for end in range(1, len(prompt) + 1)}
            best = max(best, total)
    return best


@pytest.mark.parametrize("step", [1, 2])
def test_the_plan_for_a_trace_is_the_best_of_all_sets_and_is_what_a_replay_saves(
    step: int,
) -> None:
    rng = np.random.default_rng(step)
    for _ in range(60):
        prompts = random_prompts(rng, 6, 5)
        budget = int(rng.integers(0, 4))
        trace = trace_of(prompts)
        plan = solve_tree(law_of_trace(trace, Grid(1, step)), budget)
        assert plan.saving == plan.bound == best_set(prompts, step, budget)
        result = replay(trace, f"clairvoyant:checkpoints={budget}", step)
        assert saved(result) == plan.saving
        assert result.counters.checkpoint_peak_count <= budget
        by_bytes = replay(trace, f"clairvoyant:budget_bytes={3 * budget + 2}", step)
        assert saved(by_bytes) == plan.saving


def test_without_a_limit_all_is_saved_with_states_that_are_used() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        trace = trace_of(random_prompts(rng, 12, 12))
        everything = replay(trace, "dense")
        result = replay(trace, "clairvoyant")
        assert saved(result) == saved(everything)
        resumed = np.unique(result.columns["saved_tokens"], return_counts=True)
        assert result.counters.checkpoint_peak_count <= int(resumed[1][resumed[0] > 0].sum())


def test_no_policy_beats_the_bound() -> None:
    rng = np.random.default_rng(6)
    bound_beaten = near = 0
    for _ in range(25):
        trace = trace_of(random_prompts(rng, 14, 10))
        capacity = int(rng.integers(0, 50))
        holding = best_holding(trace, Grid(), Sizes(1, 3), capacity)
        assert holding.saved_tokens <= holding.bound_tokens + 1e-9
        for placer in (*ONLINE, "clairvoyant"):
            for eviction in ("lru", "fifo"):
                got = saved(replay(trace, placer, capacity_bytes=capacity, eviction=eviction))
                bound_beaten += got > holding.bound_tokens + 1e-9
                near += got > 0.8 * holding.bound_tokens
    assert not bound_beaten
    assert near > 20  # and it is not far away either


def test_the_bound_by_hand() -> None:
    # Three times the same 4 tokens: each repeat may resume at 3, and needs 3 bytes of KV and 3 of
    # state for one request. A capacity of 6 holds them.
    trace = trace_of([(1, 2, 3, 4)] * 3)
    holding = best_holding(trace, Grid(), Sizes(1, 3), 6)
    assert (holding.resume.tolist(), holding.bound_tokens) == ([0, 3, 3], 6.0)
    # Two prompts in turn: each needs 6 bytes for two requests. A capacity of 6 allows 6 bytes
    # three times, half as much as would hold both: one of them, and a half of the other.
    trace = trace_of([(1, 2, 3, 4), (5, 6, 7, 8)] * 2)
    for capacity, bound in ((6, 4.5), (8, 6.0), (12, 6.0)):
        holding = best_holding(trace, Grid(), Sizes(1, 3), capacity)
        assert holding.bound_tokens == pytest.approx(bound)
    assert best_holding(trace, Grid(), Sizes(1, 3), 0).bound_tokens == pytest.approx(0.0)


def test_it_plans_with_answers_and_with_any_grid() -> None:
    first, second = tuple(range(10)), tuple(range(25))
    trace = trace_of([first, second], answers=[tuple(range(10, 20)), ()])
    for placer in ("clairvoyant", "clairvoyant:checkpoints=1"):
        assert saved(replay(trace, placer, capacity_bytes=100)) == 20
    trace = trace_of([tuple(range(1536))] * 5, granularity=512)
    for eviction in ("lru", "belady", "clairvoyant"):
        got = replay(trace, "clairvoyant", 528, capacity_bytes=2000, eviction=eviction)
        assert saved(got) == 4 * 1056


def test_rejected_requests_do_not_put_it_out_of_step() -> None:
    document = tuple(range(10))
    prompts = [(*document, 10), (*document, 11, 12), (*document, 13, 14, 15), (*document, 16)]
    trace = trace_of(prompts, [0.0, 1.0, 2.0, 100.0])
    result = replay(trace, "clairvoyant", server="queue", queue_limit=1)
    assert result.columns["saved_tokens"].tolist() == [0, 10, 0, 10]


def test_before_it_has_seen_a_trace_it_wants_nothing() -> None:
    assert place(create("placer", "clairvoyant"), build_prefix([9])) == ()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("checkpoints=-1", "checkpoints: expected 0 or more"),
        ("budget_bytes=-1", "budget_bytes: expected 0 or more"),
        ("checkpoints=1,budget_bytes=1", "expected one of checkpoints and budget_bytes"),
    ],
)
def test_bad_budgets_are_named(parameters: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        create("placer", f"clairvoyant:{parameters}")

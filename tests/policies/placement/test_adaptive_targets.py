"""What `adaptive` reaches on real traces, one rule for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from workloads.opening import open_trace

TRACES = {
    "system_prompts": ("system_prompts/system_prompts.jsonl.gz", 16),
    "leval_multi_q": ("leval_docqa/leval_multi_q.jsonl.gz", 16),
    "leval_quality": ("leval_docqa/leval_quality.jsonl.gz", 16),
    "synthetic": ("mooncake/synthetic_trace.jsonl.gz", 512),
    "conversation": ("mooncake/conversation_trace.jsonl.gz", 512),
    "tau_airline": ("tau_airline/tau_airline_gpt4o.jsonl.gz", 16),
}
Open = Callable[[str], Trace]


@pytest.fixture(scope="module")
def traces(shared: Path) -> Open:
    @cache
    def open_named(name: str) -> Trace:
        file, block = TRACES[name]
        return open_trace(shared / "data" / file, block=block)

    return open_named


def replay(trace: Trace, placer: str, capacity_bytes: int | None = None) -> Result:
    scenario = Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=lambda: create("placer", placer),
        eviction=lambda: create("eviction", "lru"),
        admission=lambda: create("admission", "always"),
        capacity_bytes=capacity_bytes,
        server="instant",
        alignment=1,
    )
    return simulate(trace, scenario)


def saved(result: Result) -> int:
    return int(result.columns["saved_tokens"].sum())


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("system_prompts", 0.99),
        ("leval_multi_q", 0.995),
        ("leval_quality", 0.995),
        ("synthetic", 0.98),
        ("conversation", 0.965),
        ("tau_airline", 0.999),
    ],
)
def test_share_of_the_ideal_saving_in_an_unbounded_cache(
    traces: Open, name: str, share: float
) -> None:
    trace = traces(name)
    result = replay(trace, "adaptive")
    assert saved(result) >= share * saved(replay(trace, "dense"))
    assert int(result.columns["checkpoints_written"].sum()) <= 1.1 * len(trace)


@pytest.mark.parametrize("name", ["leval_multi_q", "leval_quality", "tau_airline"])
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_under_a_byte_budget_it_beats_or_ties_the_others(
    traces: Open, name: str, share: float
) -> None:
    trace = traces(name)
    capacity_bytes = int(share * replay(trace, "branch").counters.peak_bytes)
    ours = saved(replay(trace, "adaptive", capacity_bytes))
    for other in ("last", "branch", "branch:first=256", "block:size=1024", "optimal:budget=4"):
        # Within a thousandth is a tie.
        assert ours >= 0.999 * saved(replay(trace, other, capacity_bytes)), other


@pytest.mark.parametrize("capacity_bytes", [150_000_000, 200_000_000, 250_000_000])
def test_in_a_cache_smaller_than_a_prompt_it_places_what_can_be_held(
    traces: Open, capacity_bytes: int
) -> None:
    trace = traces("leval_quality")  # 6,129 tokens a prompt: 200 MB of KV, 51.5 MB a state
    ours = saved(replay(trace, "adaptive", capacity_bytes))
    for other in ("last", "branch", "block:size=1024", "published:budget=8", "balanced:budget=4"):
        assert ours >= saved(replay(trace, other, capacity_bytes)), other

from __future__ import annotations

import json

import numpy as np
import pytest

from policies.admission.always import Always
from policies.eviction.lru import Lru
from policies.registry import create
from reports.results.metrics import BLOCK_COLUMNS, BLOCKS, blocks, flat_metrics
from reports.study.scenario import profile_named
from simulator.results.records import FINISHED, LOSSES, REJECTED
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from workloads.synthetic import SyntheticSpec, generate


@pytest.fixture(scope="module")
def result() -> Result:
    scenario = Scenario(
        profile=profile_named("qwen3.5-9b-h200"),
        placer=lambda: create("placer", "branch"),
        eviction=Lru,
        admission=Always,
        capacity_bytes=2**31,
        queue_limit=2,
    )
    return simulate(generate(SyntheticSpec(requests=150, rate_per_second=20.0)), scenario)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.9])
def test_blocks_add_up_to_the_metrics(result: Result, warmup: float) -> None:
    metrics, sums = flat_metrics(result, warmup), blocks(result, warmup)
    assert sum(sums["block_prompt_tokens"]) == metrics["prompt_tokens"]
    assert sum(sums["block_saved_tokens"]) == metrics["saved_tokens"]
    assert sum(sums["block_finished"]) == metrics["requests_finished"]
    for loss in LOSSES:
        assert sum(sums[f"block_lost_{loss}_tokens"]) == metrics[f"lost_{loss}_tokens"]
    mean = sum(sums["block_ttft_seconds"]) / sum(sums["block_finished"])
    assert mean == pytest.approx(metrics["ttft_mean_seconds"])
    lengths = {len(values) for values in sums.values()}
    assert lengths == {min(BLOCKS, metrics["requests_total"])}
    assert sums["block_arrival_seconds"] == sorted(sums["block_arrival_seconds"])


def test_blocks_by_hand() -> None:
    columns = {
        "status": np.array([FINISHED, REJECTED, FINISHED]),
        "prompt_tokens": np.array([10, 20, 30]),
        "saved_tokens": np.array([0, 0, 9]),
        "ttft_seconds": np.array([0.5, np.nan, 1.5]),
        "arrival_seconds": np.array([0.0, 1.0, 2.0]),
        "kv_bytes": np.array([1, 2, 3]),
        "checkpoint_bytes": np.array([4, 5, 6]),
        **{f"lost_{loss}_tokens": np.array([10, 0, 0]) for loss in LOSSES},
        "lost_never_seen_tokens": np.array([0, 0, 21]),
        "lost_not_served_tokens": np.array([0, 20, 0]),
    }
    made = Result.__new__(Result)
    object.__setattr__(made, "columns", columns)
    sums = blocks(made, 0.34)
    lost = {f"block_lost_{loss}_tokens": sums.pop(f"block_lost_{loss}_tokens") for loss in LOSSES}
    assert lost.pop("block_lost_never_seen_tokens") == [0, 21]
    assert lost.pop("block_lost_not_served_tokens") == [20, 0]
    assert set(map(tuple, lost.values())) == {(0, 0)}
    assert sums == dict(
        zip(
            [name for name in BLOCK_COLUMNS if "lost" not in name],
            ([20, 30], [0, 9], [0.0, 1.5], [0, 1], [1.0, 2.0], [2, 3], [5, 6]),
            strict=True,
        )
    )


def test_metrics_are_plain_json_numbers(result: Result) -> None:
    metrics = flat_metrics(result, 0.0) | blocks(result, 0.0)
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    assert metrics["requests_rejected"] > 0
    assert metrics["ttft_p99_seconds"] is None  # of fewer than 368 requests
    lost = sum(metrics[f"lost_{loss}_tokens"] for loss in LOSSES)
    assert lost + metrics["saved_tokens"] == metrics["prompt_tokens"]


def test_an_empty_trace_has_no_blocks(result: Result) -> None:
    nothing = Result(
        columns={name: column[:0] for name, column in result.columns.items()},
        counters=result.counters,
        simulated_seconds=0.0,
        wall_seconds=0.0,
    )
    assert blocks(nothing, 0.0) == {name: [] for name in BLOCK_COLUMNS}
    assert flat_metrics(nothing, 0.0)["token_hit_rate"] is None

"""What a cell measures, worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reports.capacity.measures import CountedColumns, measure, ratio_limit
from reports.capacity.price import GIB, Prices
from reports.capacity.target import parse_target
from simulator.base.errors import UsageError


def counted(
    ttft: list[float], arrival: list[float] | None = None, tokens: int = 10
) -> CountedColumns:
    """Return requests of 10 prompt tokens, 4 of them saved; an infinite TTFT is not served."""
    waits = np.array(ttft, dtype=np.float64)
    served = np.isfinite(waits)
    return CountedColumns(
        served,
        waits,
        np.where(served, 0.5, 0.0),
        np.array(arrival or range(len(ttft)), dtype=np.float64),
        np.full(len(ttft), tokens),
        np.where(served, 4, 0),
    )


def measured(target: str, rows: CountedColumns, prices: Prices | None = None) -> dict[str, Any]:
    return measure(rows, parse_target(target), prices, 2 * GIB)


def ratio(metrics: dict[str, Any]) -> float:
    return float(sum(metrics["block_over"]) / sum(metrics["block_under"]))


def test_a_quantile_is_the_least_time_that_serves_its_share() -> None:
    rows = counted([float(value) for value in range(1, 101)])
    assert measured("p90_ttft<=90s", rows)["target_value"] == 90.0
    assert measured("p95_ttft<=90s", rows)["target_value"] == 95.0
    assert measured("p50_ttft<=90s", rows)["target_value"] == 50.0
    assert ratio(measured("p90_ttft<=90s", rows)) == pytest.approx(0.1)
    assert ratio_limit(parse_target("p90_ttft<=90s")) == 0.1  # not 1 - .9, which is a little less


def test_requests_that_were_not_served_are_the_slowest() -> None:
    rows = counted([1.0] * 32 + [np.inf] * 8)
    assert measured("p50_ttft<=2s", rows)["target_value"] == 1.0
    assert measured("p90_ttft<=2s", rows)["target_value"] is None
    assert ratio(measured("p90_ttft<=2s", rows)) == pytest.approx(0.2)
    mean = measured("mean_ttft<=2s", rows)
    assert mean["target_value"] is None
    assert mean["block_over"] == []


@pytest.mark.parametrize(
    ("name", "needed"), [("p50", 6), ("p90", 36), ("p95", 72), ("p99.9", 3688)]
)
def test_every_percentile_needs_enough_requests(name: str, needed: int) -> None:
    target = f"{name}_ttft<=2s"
    assert measured(target, counted([1.0] * needed))["target_value"] == 1.0
    with pytest.raises(UsageError, match=f"expected {needed:,} counted requests or more"):
        measured(target, counted([1.0] * (needed - 1)))


def test_a_p99_needs_enough_requests() -> None:
    assert measured("p99_ttft<=2s", counted([1.0] * 368))["target_value"] == 1.0
    with pytest.raises(UsageError, match="expected 368 counted requests or more, found 367"):
        measured("p99_ttft<=2s", counted([1.0] * 367))


def test_hit_rate_and_mean() -> None:
    assert measured("token_hit_rate>=40%", counted([1.0, 2.0]))["target_value"] == 0.4
    assert measured("mean_ttft<=2s", counted([1.0, 2.0]))["target_value"] == 1.5


def test_throughput_is_served_requests_over_the_whole_time() -> None:
    # arrivals at 0, 1, 2, 3; first tokens at 1, 2, never, 7
    rows = counted([1.0, 1.0, np.inf, 4.0])
    metrics = measured("throughput>=1/s", rows)
    assert metrics["target_value"] == pytest.approx(3 / 7)
    assert sum(metrics["block_under"]) == 7.0


def test_cost_is_memory_all_the_time_and_the_gpu_while_busy() -> None:
    # 3 served requests are busy for 1.5 s; 2 GiB are held for 7 s; 30 tokens are served
    prices = Prices(dollars_per_gib_hour=3600.0, dollars_per_gpu_hour=7200.0)
    metrics = measured("cost<=1", counted([1.0, 1.0, np.inf, 4.0]), prices)
    assert metrics["target_value"] == pytest.approx((2 * 7 + 1.5 * 2) / 30 * 1e6)
    assert ratio(metrics) == pytest.approx(metrics["target_value"])


@pytest.mark.parametrize("target", ["p50_ttft<=2s", "mean_ttft<=2s", "throughput>=1/s"])
def test_blocks_sum_to_the_whole(target: str) -> None:
    rng = np.random.default_rng(2)
    rows = counted(
        rng.exponential(size=1000).tolist(), rng.exponential(size=1000).cumsum().tolist()
    )
    metrics = measured(target, rows)
    assert len(metrics["block_over"]) == len(metrics["block_under"]) == 64
    whole = float((rows.ttft > 2).mean()) if target.startswith("p50") else metrics["target_value"]
    assert ratio(metrics) == pytest.approx(whole)


def test_nothing_counted_has_no_value() -> None:
    for target in ("mean_ttft<=1s", "p50_ttft<=1s", "token_hit_rate>=1%", "throughput>=1/s"):
        assert measured(target, counted([]))["target_value"] is None

"""What a target may say."""

from __future__ import annotations

import pytest

from reports.capacity.target import METRICS, metric_named, parse_target, unit_notes
from simulator.base.errors import UsageError


@pytest.mark.parametrize(
    ("text", "name", "limit"),
    [
        ("p99_ttft<=800ms", "p99_ttft", 0.8),
        (" p50_ttft <= 2 s ", "p50_ttft", 2.0),
        ("mean_ttft<=0.25", "mean_ttft", 0.25),
        ("p99.9_ttft<=800ms", "p99.9_ttft", 0.8),
        ("p99.90_ttft<=800ms", "p99.9_ttft", 0.8),
        ("p95_ttft<=2s", "p95_ttft", 2.0),
        ("token_hit_rate>=40%", "token_hit_rate", 0.4),
        ("token_hit_rate >= 0.4", "token_hit_rate", 0.4),
        ("throughput>=5/s", "throughput", 5.0),
        ("throughput>=5 requests/s", "throughput", 5.0),
        ("cost<=$0.12", "cost", 0.12),
    ],
)
def test_limits_have_the_units_of_their_metric(text: str, name: str, limit: float) -> None:
    target = parse_target(text)
    assert (target.metric.name, target.limit) == (name, pytest.approx(limit))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99_ttft", "expected METRIC<=VALUE"),
        ("", "expected METRIC<=VALUE"),
        ("p99_tfft<=1s", "did you mean 'p99_ttft'"),
        ("p99_ttft>=800ms", "expected <=, as less is better, found >="),
        ("p99_ttft<800ms", "expected <=, as less is better, found <"),
        ("p90_ttft<=200", "found '200': did you mean '200ms' or '200s'?"),
        ("mean_ttft<=1", "did you mean '1ms' or '1s'?"),
        ("p100_ttft<=1s", "expected a percentile above 0 and below 100"),
        ("p0_ttft<=1s", "expected a percentile above 0 and below 100"),
        ("p9.9.9_ttft<=1s", "expected a percentile above 0 and below 100"),
        ("token_hit_rate<=40%", "expected >=, as more is better, found <="),
        ("p99_ttft<=800 parsecs", "unknown unit 'parsecs'"),
        ("p99_ttft<=0ms", "expected a time above 0"),
        ("p99_ttft<=nan", "expected a time"),
        ("token_hit_rate>=140%", "expected a share above 0 and up to 1"),
        ("token_hit_rate>=0", "expected a share above 0 and up to 1"),
        ("token_hit_rate>=-1", "expected a share"),
        ("throughput>=5/h", "expected requests per second"),
        ("throughput>=inf", "expected requests per second"),
        ("cost<=cheap", "expected dollars per million prompt tokens"),
        ("cost<=1\n2", "expected dollars"),
    ],
)
def test_what_is_no_target_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_target(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_limit_itself_meets_the_target(metric: object) -> None:
    target = next(
        parse_target(f"{name}{sign}0.5")
        for name, known in METRICS.items()
        if known is metric
        for sign in ["<=" if known.less_is_better else ">="]
    )
    assert target.met(0.5)
    assert not target.met(target.worst)
    assert target.met(0.4) is target.metric.less_is_better
    assert target.metric.title in target.text


def test_a_time_without_a_unit_is_told() -> None:
    assert unit_notes(["mean_ttft<=0.25"]) == [
        "--target mean_ttft<=0.25: no unit is stated: taken as 250 ms"
    ]
    assert unit_notes(["mean_ttft<=0.25s", "token_hit_rate>=0.4"]) == []


def test_any_percentile_is_a_metric() -> None:
    metric = metric_named("p99.95_ttft")
    assert (metric.quantile, metric.title) == (0.9995, "P99.95 time to first token")
    assert metric_named("p50.0_ttft") is METRICS["p50_ttft"]

"""When a capacity meets a target perhaps, by its value, surely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.capacity.evidence import Trial, judge
from reports.capacity.search import search
from reports.capacity.target import parse_target

LATENCY, RATE = parse_target("mean_ttft<=1s"), parse_target("token_hit_rate>=50%")
P90 = parse_target("p90_ttft<=1s")


def rows(*values: float | None, over: Any = (), under: Any = ()) -> list[dict[str, Any]]:
    return [
        {"target_value": value, "block_over": list(over), "block_under": list(under)}
        for value in values
    ]


def verdict(trial: Trial) -> tuple[bool, bool, bool]:
    return trial.may, trial.met, trial.sure


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # three replications: half an interval is 4.303 x deviation / sqrt(3)
        ((0.5, 0.6, 0.7), (True, True, True)),  # 0.6 +- 0.248
        ((0.8, 0.9, 1.0), (True, True, False)),  # 0.9 +- 0.248
        ((1.0, 1.1, 1.2), (True, False, False)),  # 1.1 +- 0.248
        ((1.2, 1.3, 1.4), (False, False, False)),  # 1.3 +- 0.248
    ],
)
def test_replications_have_an_interval(
    values: Sequence[float], expected: tuple[bool, bool, bool]
) -> None:
    assert verdict(judge(1, rows(*values), LATENCY, drawn=False)) == expected
    mirrored = rows(*(1.5 - value for value in values))
    assert verdict(judge(1, mirrored, RATE, drawn=False)) == expected


def test_draws_of_the_costs_say_where_another_would_lie() -> None:
    values = rows(0.7, 0.8, 0.9)
    assert judge(1, values, LATENCY, drawn=False).may
    assert not judge(1, rows(0.5, 0.6, 0.7), LATENCY, drawn=True).sure  # 0.6 +- 0.497


def test_one_replay_is_resampled_in_blocks_of_time() -> None:
    steady = rows(0.5, over=[0.5] * 64, under=[1.0] * 64)
    assert verdict(judge(1, steady, LATENCY, drawn=False)) == (True, True, True)
    rng = np.random.default_rng(0)
    rough = rows(0.95, over=(rng.exponential(0.95, 64)).tolist(), under=[1.0] * 64)
    assert verdict(judge(1, rough, LATENCY, drawn=False)) == (True, True, False)


def test_a_percentile_is_resampled_as_the_share_that_is_late() -> None:
    few, many = [0.05] * 64, [0.15] * 64
    assert judge(1, rows(0.9, over=few, under=[1.0] * 64), P90, drawn=False).sure
    assert not judge(1, rows(1.1, over=many, under=[1.0] * 64), P90, drawn=False).may


def test_without_evidence_the_value_decides() -> None:
    assert verdict(judge(1, rows(0.9), LATENCY, drawn=False)) == (True, True, True)
    assert verdict(judge(1, rows(1.1), LATENCY, drawn=False)) == (False, False, False)


def test_requests_that_were_not_served_miss_any_limit() -> None:
    assert verdict(judge(1, rows(None), LATENCY, drawn=False)) == (False, False, False)
    assert verdict(judge(1, rows(None, 0.5, 0.5), LATENCY, drawn=False)) == (True, False, False)


@given(st.lists(st.floats(0, 2), min_size=1, max_size=6), st.booleans())
def test_surely_implies_meets_implies_perhaps(values: list[float], drawn: bool) -> None:
    for target in (LATENCY, RATE):
        judged = judge(1, rows(*values), target, drawn=drawn)
        assert judged.sure <= judged.met <= judged.may
        assert judged.met == target.met(float(np.mean(values)))


def test_the_interval_of_the_capacity_covers_the_truth_as_often_as_it_says() -> None:
    """Three noisy replications with common random numbers; the truth is 1,000 bytes."""
    rng = np.random.default_rng(5)
    covered = 0
    studies = 300
    for _ in range(studies):
        noise = rng.normal(scale=0.05, size=3)

        def tried(capacity: int, noise: Any = noise) -> Trial:
            values = 0.5 + 0.1 * np.log2(capacity / 1000) + noise
            return judge(capacity, rows(*values.tolist()), RATE, drawn=False)

        asked = search([1 << power for power in range(4, 17)], RATE, 0.02)
        wanted = next(asked)
        try:
            while True:
                wanted = asked.send({capacity: tried(capacity) for capacity in wanted})
        except StopIteration as ended:
            result = ended.value
        low, high = result.low or 0, result.high or np.inf
        covered += low <= 1000 <= high
    assert 0.92 <= covered / studies <= 0.98

"""Which requests can tell a percentile, against the probabilities themselves."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.base.errors import UsageError
from simulator.results.percentiles import (
    complement,
    least_requests,
    level_of,
    percentile_name,
    percentiles,
    with_usual,
)


@pytest.mark.parametrize(
    ("name", "count"), [("p50", 6), ("p90", 36), ("p95", 72), ("p99", 368), ("p99.9", 3688)]
)
def test_the_least_number_of_requests(name: str, count: int) -> None:
    assert least_requests(level_of(name)) == count


@pytest.mark.parametrize("level", [0.001, 0.01, 0.2, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999])
def test_it_is_the_least_with_both_ends_of_the_interval(level: float) -> None:
    def both(count: int) -> bool:
        above = level**count  # all lie below the quantile: no upper end
        below = (1 - level) ** count
        return above <= 0.025 and below <= 0.025

    count = least_requests(level)
    assert both(count)
    assert not both(count - 1)


def test_the_largest_value_covers_the_quantile_from_there_on() -> None:
    draws = np.random.default_rng(7).random((20_000, least_requests(0.9)))
    missed = (draws.max(axis=1) < 0.9).mean()
    assert missed == pytest.approx(0.9**36, abs=0.003)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("p99.9", "p99.9"),
        ("99.90", "p99.9"),
        (99.9, "p99.9"),
        (95, "p95"),
        ("P05", "p5"),
        ("90.0", "p90"),
        (0.5, "p0.5"),
        ("99.999", "p99.999"),
    ],
)
def test_a_percentile_has_one_name(text: str | float, name: str) -> None:
    assert percentile_name(text) == name


@pytest.mark.parametrize("text", ["0", "100", "p100", "-1", "99,9", "nan", "", "9e1", "p", "0.0"])
def test_what_is_no_percentile_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="above 0 and below 100"):
        percentile_name(text)


def test_levels_are_exact() -> None:
    assert level_of("p99.9") == 0.999
    assert complement(0.9) == 0.1
    assert with_usual(["p99.9", "p95", "p90"]) == ["p50", "p90", "p95", "p99", "p99.9"]


def test_what_too_few_cannot_tell_is_none() -> None:
    values = np.arange(100, dtype=np.float64)
    by_name = percentiles(values, ["p50", "p95", "p99"])
    assert by_name == {"p50": 49.5, "p95": pytest.approx(94.05), "p99": None}
    assert percentiles(np.zeros(0), ["p50"]) == {"p50": None}

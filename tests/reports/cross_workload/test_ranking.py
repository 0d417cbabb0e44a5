from __future__ import annotations

import polars as pl
import pytest

from reports.cross_workload.ranking import ranking
from reports.results.comparison import compare
from tests.reports.cross_workload.workloads import several, with_foresight
from tests.reports.sample_study import GIB, with_failures

ALIKE = {"a": (0.2, 0.6, 0.4), "b": (0.1, 0.5, 0.3)}
TURNED = {"a": (0.2, 0.6, 0.4), "b": (0.5, 0.1, 0.3)}


def test_ranks_are_means_over_workloads_and_capacities() -> None:
    ranked = ranking(compare(*several(TURNED)), "token_hit_rate")
    assert ranked is not None
    assert (ranked.places, ranked.workloads, ranked.pairs) == (4, 2, 12)
    assert [each.series.name for each in ranked.ranked] == ["last", "branch", "sqrt"]
    assert [each.rank for each in ranked.ranked] == [2.0, 2.0, 2.0]
    assert ranked.ranked[0].by_world == {"a": 3.0, "b": 1.0}
    assert ranked.agreement == pytest.approx(0)


def test_clear_differences_leave_one_rank_each() -> None:
    ranked = ranking(compare(*several(ALIKE)), "token_hit_rate")
    assert ranked is not None
    ranks = [(each.series.name, each.low, each.rank, each.high) for each in ranked.ranked]
    assert ranks == [("branch", 1, 1, 1), ("sqrt", 2, 2, 2), ("last", 3, 3, 3)]
    assert ranked.agreement == pytest.approx(1)
    assert ranked.p_value == pytest.approx(1 / 6)  # of 6 orders one is the same


def test_noise_widens_what_a_rank_may_be() -> None:
    ranked = ranking(compare(*several(ALIKE, spread=0.2)), "token_hit_rate")
    assert ranked is not None
    assert [(each.low, each.high) for each in ranked.ranked] == [(1, 3)] * 3


def test_a_shorter_time_is_the_better_one() -> None:
    ranked = ranking(compare(*several(ALIKE)), "ttft_seconds")
    assert ranked is not None
    assert [each.series.name for each in ranked.ranked] == ["branch", "sqrt", "last"]


def test_capacities_of_a_workload_are_no_workloads_of_their_own() -> None:
    one = ranking(compare(*several({"a": (0.2, 0.6, 0.4)})), "token_hit_rate")
    assert one is not None
    assert (one.places, one.workloads, one.p_value) == (2, 1, None)


def test_worlds_that_share_a_workload_count_as_one() -> None:
    cells, manifest = several({"a": (0.2, 0.6, 0.4)})
    rates = [cells.with_columns(pl.lit(rate).alias("arrivals.rate")) for rate in (1.0, 2.0)]
    manifest["grid"] = {"arrivals.rate": [1.0, 2.0]}
    ranked = ranking(compare(pl.concat(rates), manifest), "token_hit_rate")
    assert ranked is not None
    assert (ranked.places, ranked.workloads) == (4, 1)
    assert list(ranked.ranked[0].by_world) == ["rate 1.0", "rate 2.0"]


def test_what_looks_ahead_or_failed_somewhere_has_no_rank() -> None:
    cells, manifest = several(ALIKE)
    failed = (pl.col("placer") == "sqrt") & (pl.col("capacity_bytes") == 2 * GIB)
    broken = with_failures(with_foresight(cells, 0.1), failed, "out of memory")
    ranked = ranking(compare(broken, manifest), "token_hit_rate")
    assert ranked is not None
    assert [each.series.name for each in ranked.ranked] == ["branch · lru", "last · lru"]
    assert ranked.left_out == ("sqrt · lru",)


def test_one_policy_has_no_rank() -> None:
    cells, manifest = several(ALIKE)
    assert (
        ranking(compare(cells.filter(pl.col("placer") == "last"), manifest), "token_hit_rate")
        is None
    )
    assert ranking([], "token_hit_rate") is None

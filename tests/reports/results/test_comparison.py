from __future__ import annotations

import polars as pl
import pytest

from reports.results.comparison import compare, differences
from tests.reports.sample_study import GIB, sample, with_failures


def test_points_sum_tokens_and_pair_replications() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    (world,) = compare(cells, manifest)
    point = world.points["branch", "8 GiB"]
    mine = cells.filter(pl.col("placer") == "branch")
    theirs = cells.filter(pl.col("placer") == "last")
    assert point.total("saved_tokens") == mine["saved_tokens"].sum()
    assert point.share("saved_tokens") == mine["saved_tokens"].sum() / mine["prompt_tokens"].sum()
    assert point.token_hit_rate_difference is not None
    expected = (mine["token_hit_rate"] - theirs["token_hit_rate"]).mean()
    assert point.token_hit_rate_difference.value == pytest.approx(expected)
    assert point.token_hit_rate_difference.method == "replications"
    assert world.points["last", "8 GiB"].token_hit_rate_difference is None


def test_a_deterministic_replay_is_resampled_however_often_it_was_run() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    manifest["trace"] |= {"deterministic": True}
    (world,) = compare(cells, manifest)
    difference = world.points["branch", "8 GiB"].token_hit_rate_difference
    assert difference is not None
    assert (difference.method, difference.count) == ("blocks", 64)
    assert difference.low is not None
    assert difference.high is not None
    assert difference.low < difference.value < difference.high


def test_a_replay_that_is_short_for_what_its_requests_remember_has_no_interval() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last", replications=1)
    longest = pl.when(pl.col("placer") == "last").then(pl.col("requests_total") / 5).otherwise(0.0)
    (world,) = compare(cells.with_columns(longest.alias("memory_requests")), manifest)
    point = world.points["branch", "8 GiB"]
    assert point.token_hit_rate is not None
    assert point.token_hit_rate.low is not None
    difference = point.token_hit_rate_difference
    assert difference is not None
    assert (difference.low, difference.verdict) == (None, "unknown")
    assert difference.reason.startswith("too short to tell: it lasts 5.0 times as long")


def test_one_seed_repeated_is_no_evidence_of_replication() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], replications=3)
    (world,) = compare(cells.with_columns(pl.lit(7).alias("seed")), manifest)
    estimate = world.points["branch", "8 GiB"].token_hit_rate
    assert estimate is not None
    assert estimate.method == "blocks"


def test_few_requests_give_no_interval() -> None:
    cells, manifest = sample(["last", "branch"], [None], replications=1, requests=3)
    (world,) = compare(cells, manifest)
    estimate = world.points["branch", "unbounded"].token_hit_rate
    assert estimate is not None
    assert (estimate.low, estimate.method) == (None, "none")


def test_the_focus_is_the_middle_capacity_where_most_finished() -> None:
    cells, manifest = sample()
    assert compare(cells, manifest)[0].focus == "4 GiB"
    broken = with_failures(cells, pl.col("capacity_bytes") == 4 * GIB, "out of memory")
    assert compare(broken, manifest)[0].focus == "8 GiB"
    (world,) = compare(cells, manifest)
    assert world.capacities == ("2 GiB", "4 GiB", "8 GiB", "16 GiB", "unbounded")


def test_the_best_is_no_upper_bound_unless_there_is_nothing_else() -> None:
    (world,) = compare(*sample(["last", "dense", "branch"]))
    assert world.best is not None
    assert world.best.series.name == "branch"
    assert world.points["dense", "4 GiB"].series.marks == ("upper bound",)
    (alone,) = compare(*sample(["dense"]))
    assert alone.best is not None
    assert alone.best.series.name == "dense"


def test_an_eviction_policy_that_looks_ahead_is_marked_and_never_the_answer() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    seer = pl.lit("belady").alias("eviction"), (pl.col("token_hit_rate") + 0.01)
    (world,) = compare(pl.concat([cells, cells.with_columns(*seer)]), manifest)
    marked = [series.name for series in world.series if series.marks == ("looks ahead",)]
    assert marked == ["last · belady", "branch · belady"]
    assert world.best is not None
    assert world.best.series.name == "branch · lru"


def test_other_policies_name_the_series_and_are_compared_like_with_like() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    both = pl.concat([cells, cells.with_columns(pl.lit("fifo").alias("eviction"))])
    (world,) = compare(both, manifest)
    assert [series.name for series in world.series] == [
        "last · lru",
        "branch · lru",
        "last · fifo",
        "branch · fifo",
    ]
    assert world.baseline["branch · fifo"] == "last · fifo"
    assert world.baseline_name == "last"


def test_one_placer_under_several_evictions_is_compared_with_the_first() -> None:
    cells, manifest = sample(["branch"], [8 * GIB])
    both = pl.concat([cells, cells.with_columns(pl.lit("fifo").alias("eviction"))])
    (world,) = compare(both, manifest)
    assert world.baseline == {"lru": "lru", "fifo": "lru"}


def test_what_policies_share_makes_worlds_and_a_renamed_key_does_not() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB, None])
    manifest["grid"] = {"policy.placer": [], "arrivals.rate": [1, 2]}
    named = cells.with_columns(pl.col("placer").str.to_uppercase().alias("policy.placer"))
    both = pl.concat([named.with_columns(pl.lit(rate).alias("arrivals.rate")) for rate in (1, 2)])
    assert [world.name for world in compare(both, manifest)] == ["rate 1", "rate 2"]


def test_capacities_that_print_the_same_stay_apart() -> None:
    cells, manifest = sample(["last"], [8 * GIB, 8 * GIB + 1])
    (world,) = compare(cells, manifest)
    assert world.capacities == ("8 GiB (8,589,934,592 B)", "8 GiB (8,589,934,593 B)")


def test_a_study_without_cells_has_no_worlds() -> None:
    cells, manifest = sample(["last"])
    assert compare(cells.clear(), manifest) == []


def test_charts_show_the_best_series_and_the_baseline() -> None:
    placers = ["none", *(f"block:size={64 + i}" for i in range(40)), "branch"]
    (world,) = compare(*sample(placers, [8 * GIB], replications=1, baseline="none"))
    names = [series.name for series in world.shown.series]
    assert len(names) == 24
    assert (names[0], names[-1]) == ("none", "branch")
    assert len(world.series) == 42


def test_what_has_the_same_results_everywhere_comes_last_where_there_is_not_room_for_all() -> None:
    # The cells of the sample follow from the length of the name: three results in 40 placers.
    placers = ["none", *(f"block:size={size}" for size in [*range(80, 110), *range(1000, 1010)])]
    (world,) = compare(*sample(placers, [8 * GIB, None], replications=1, baseline="none"))
    assert {name: len(names) for name, names in world.alike.items()} == {
        "block:size=80": 19,
        "block:size=100": 9,
        "block:size=1000": 9,
    }
    names = [series.name for series in world.shown.series]
    assert len(names) == 24
    assert {"none", "block:size=80", "block:size=100", "block:size=1000"} <= {*names}
    few = compare(*sample(["none", "block:size=80", "block:size=81"], [8 * GIB]))[0]
    assert few.shown is few
    assert few.alike == {"block:size=80": ("block:size=81",)}


def test_what_differs_at_one_capacity_or_failed_there_is_not_alike() -> None:
    cells, manifest = sample(["block:size=80", "block:size=81"], [8 * GIB, None])
    at_one = (pl.col("placer") == "block:size=81") & pl.col("capacity_bytes").is_null()
    more = pl.col("saved_tokens") + at_one.cast(pl.Int64)
    assert compare(cells.with_columns(more), manifest)[0].alike == {}
    failed = compare(with_failures(cells, at_one, "boom"), manifest)[0]
    assert failed.alike == {}


def test_every_difference_is_corrected_for_all_that_are_made() -> None:
    cells, manifest = sample(["last", "branch", "sqrt"], [4 * GIB, 8 * GIB], baseline="last")
    two = pl.concat([cells.with_columns(pl.lit(name).alias("workload")) for name in "ab"])
    worlds = compare(two, manifest)
    made = [each for each in differences(worlds) if each is not None and each.tested]
    # 2 policies x 2 capacities x 2 metrics, and the best less sqrt, in each of 2 workloads
    assert len(made) == 2 * (2 * 2 * 2 + 1)
    raw = sorted((each.p_value or 0.0, each.p_holm or 0.0) for each in made)
    assert raw[0][1] == pytest.approx(18 * raw[0][0])
    alone = compare(cells, manifest)[0].points["branch", "4 GiB"].token_hit_rate_difference
    among = worlds[0].points["branch", "4 GiB"].token_hit_rate_difference
    assert alone == among  # the interval is the same
    assert alone is not None
    assert among is not None
    assert (alone.p_holm or 0) < (among.p_holm or 0)


def test_the_gap_of_a_rival_is_one_of_the_differences() -> None:
    cells, manifest = sample(["last", "branch", "sqrt"], [8 * GIB], baseline="last")
    (world,) = compare(cells, manifest)
    last, branch, root = world.at("8 GiB")
    assert world.best is branch
    assert world.gap(last) is branch.token_hit_rate_difference
    assert list(world.behind) == ["sqrt"]
    assert world.gap(root) is world.behind["sqrt"]
    gap = branch.less(root, "token_hit_rate")
    assert gap is not None
    assert world.behind["sqrt"].value == pytest.approx(gap.value)
    (world,) = compare(cells, manifest | {"baseline": "branch"})
    last, *_ = world.at("8 GiB")
    assert last.token_hit_rate_difference is not None
    assert world.gap(last) == last.token_hit_rate_difference.opposite
    assert world.behind == {}


def as_policies(cells: pl.DataFrame, eviction: str, admission: str) -> pl.DataFrame:
    return cells.with_columns(
        pl.lit(eviction).alias("eviction"), pl.lit(admission).alias("admission")
    )


def test_a_policy_of_all_kinds_is_named_once_and_policies_that_vary_together_are_all_named() -> (
    None
):
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    one = as_policies(cells.filter(pl.col("placer") == "last"), "lru", "always")
    three = as_policies(cells.filter(pl.col("placer") == "branch"), "unified", "unified")
    joint = three.with_columns(pl.lit("unified:rate=1.0").alias("placer"))
    (world,) = compare(pl.concat([one, joint]), manifest)
    assert [series.name for series in world.series] == ["last · lru · always", "unified:rate=1.0"]
    assert world.baseline["unified:rate=1.0"] == "last · lru · always"
    assert world.points["unified:rate=1.0", "8 GiB"].token_hit_rate_difference is not None
    (alone,) = compare(joint, manifest)
    assert [series.name for series in alone.series] == ["unified:rate=1.0"]


def test_without_a_pair_the_baseline_shares_most_of_the_other_policies() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    last, branch = (cells.filter(pl.col("placer") == name) for name in ("last", "branch"))
    rows = [
        as_policies(last, "fifo", "always"),
        as_policies(last, "lru", "tinylfu"),
        as_policies(branch, "value", "tinylfu"),
        as_policies(branch, "value", "value"),
    ]
    (world,) = compare(pl.concat(rows), manifest)
    assert world.baseline["branch · value · tinylfu"] == "last · lru · tinylfu"
    assert world.baseline["branch · value · value"] == "last · fifo · always"

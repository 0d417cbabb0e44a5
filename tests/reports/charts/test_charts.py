from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest

from reports.charts import write_images
from reports.charts.bars import (
    FATES_IN_ORDER,
    differences_at_focus,
    explained,
    leading,
    verdict_word,
)
from reports.charts.lint import checked
from reports.palette import GREY
from reports.results.comparison import compare
from reports.statistics import Estimate, Margin
from simulator.base.errors import UsageError
from tests.reports.pages.rendering import study_charts, world_charts
from tests.reports.sample_study import BLOCKS, GIB, PLACERS, sample, with_failures


def rows_of(chart: Any, *fields: str) -> list[dict[str, Any]]:
    """Return the data of the first layer that has all of the fields."""
    tables: list[list[dict[str, Any]]] = list(checked(chart)["datasets"].values())
    return next(table for table in tables if set(fields) <= set(table[0]))


@pytest.fixture(scope="module")
def charts() -> dict[str, Any]:
    return dict(study_charts(*sample()))


def test_every_chart_is_there_and_fits_its_data(charts: dict[str, Any]) -> None:
    assert list(charts) == [
        "pareto_savings",
        "difference_hit_rate",
        "pareto_ttft",
        "difference_ttft",
        "capacity_curve",
        "losses",
        "positions",
        "positions_from_branch",
        "positions_from_end",
        "positions_from_start",
        "positions_by_label",
        "rate_over_time",
        "losses_over_time",
        "losses_over_time_baseline",
        "occupancy",
        "occupancy_baseline",
    ]
    for chart in charts.values():
        assert "NaN" not in json.dumps(checked(chart), allow_nan=False)


def test_the_pareto_chart_holds_one_row_a_point(charts: dict[str, Any]) -> None:
    cells, _ = sample()
    rows = rows_of(charts["pareto_savings"], "realised", "value")
    assert len(rows) == len(PLACERS) * 5
    (row,) = [r for r in rows if (r["series"], r["capacity"]) == ("branch", "8 GiB")]
    own = cells.filter((pl.col("placer") == "branch") & (pl.col("capacity_bytes") == 8 * GIB))
    assert row["realised"] == pytest.approx(own["cache_mean_bytes"].mean() / GIB)
    assert row["value"] == pytest.approx(own["token_hit_rate"].mean())


def test_differences_leave_out_the_baseline_and_grey_what_is_not_claimed(
    charts: dict[str, Any],
) -> None:
    rows = rows_of(charts["difference_hit_rate"], "low", "high")
    assert {row["series"] for row in rows} == set(PLACERS) - {"block:size=1024"}
    assert [row["value"] for row in rows] == sorted((r["value"] for r in rows), reverse=True)
    claimed = [row for row in rows if row["text"].endswith(("better", "worse"))]
    assert all(row["colour"] == GREY for row in rows if row not in claimed)
    assert all(row["colour"] != GREY for row in claimed if row["series"] not in ("none", "dense"))
    assert all(row["low"] > 0 or row["high"] < 0 for row in claimed)


def test_of_many_differences_the_first_are_drawn_few_of_which_no_one_can_run() -> None:
    placers = ["none", "dense", *(f"block:size={size}" for size in range(80, 100))]
    cells, manifest = sample(placers, [8 * GIB], baseline="none")
    seers = cells.with_columns(eviction=pl.lit("clairvoyant"))
    (world,) = compare(pl.concat([cells, seers]), manifest)
    differences = differences_at_focus(world, "token_hit_rate")
    drawn = leading(differences)
    assert len(drawn) == 12
    assert sum(bool(point.series.marks) for point, _ in drawn) == 2
    gains = [estimate.value for _, estimate in drawn]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == differences[0][1].value
    assert leading(differences[:12]) == differences[:12]
    charts = world_charts(world)
    assert charts["pareto_savings"].height == charts["difference_hit_rate"].height == 12 * 40


def test_a_warm_up_that_was_cut_is_shaded_up_to_the_first_block() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    later = pl.col("block_arrival_seconds").list.eval(pl.element() + 300)
    warmed = study_charts(cells.with_columns(later), manifest)
    plain = study_charts(cells.with_columns(later), manifest | {"warmup_share": 0})
    for name in ("rate_over_time", "losses_over_time", "occupancy", "occupancy_baseline"):
        (band,) = rows_of(warmed[name], "start", "end")
        assert (band["start"], band["end"], band["name"]) == (0, 5, "warm-up")
        assert "warm-up" not in json.dumps(checked(plain[name]))


def test_the_fates_of_prompt_tokens_sum_to_the_whole(charts: dict[str, Any]) -> None:
    rows = rows_of(charts["losses"], "fate", "share")
    for placer in PLACERS:
        own = [row for row in rows if row["series"] == placer]
        assert [row["fate"] for row in own] == [fate.name for fate in FATES_IN_ORDER]
        assert sum(row["share"] for row in own) == pytest.approx(1.0)
    assert all(fate.meaning for fate in FATES_IN_ORDER)


def test_losses_of_every_block_sum_to_the_whole_for_every_policy(charts: dict[str, Any]) -> None:
    names = [fate.name for fate in FATES_IN_ORDER]
    rows = rows_of(charts["losses_over_time"], *names)
    assert len(rows) == len(PLACERS) * BLOCKS
    assert {row["series"] for row in rows} == set(PLACERS)
    for row in rows:
        assert sum(row[name] for name in names) == pytest.approx(1.0, abs=1e-3)
    baseline = rows_of(charts["losses_over_time_baseline"], *names)
    assert baseline == [row for row in rows if row["series"] == "block:size=1024"]


def test_rates_over_time_are_those_of_the_blocks(charts: dict[str, Any]) -> None:
    cells, _ = sample()
    own = cells.filter((pl.col("placer") == "last") & (pl.col("capacity_bytes") == 4 * GIB)).row(
        0, named=True
    )
    rows = [row for row in rows_of(charts["rate_over_time"], "rate") if row["series"] == "last"]
    pairs = zip(own["block_saved_tokens"], own["block_prompt_tokens"], strict=True)
    assert [row["rate"] for row in rows] == pytest.approx([s / p for s, p in pairs], rel=1e-3)
    minutes = [seconds / 60 for seconds in own["block_arrival_seconds"]]
    assert [row["time"] for row in rows] == pytest.approx(minutes)


def test_names_of_levels_cannot_meet_and_dots_stay_apart(charts: dict[str, Any]) -> None:
    layers = checked(charts["capacity_curve"])["layer"]
    names = {layer["mark"]["dy"] < 0 for layer in layers if layer["mark"]["type"] == "text"}
    assert names == {True, False}  # the ideal is above its rule, the bound below its line
    (dots,) = [layer["mark"] for layer in layers if layer["mark"].get("strokeCap") == "round"]
    assert dots["strokeDash"][1] >= 2 * dots["strokeWidth"]  # round ends lengthen each dot


def test_the_losses_of_split_pools_name_the_pool() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    split = cells.with_columns(pool_states_peak_bytes=pl.lit(1))
    for frame, shown in ((cells, False), (split, True)):
        fates = {row["fate"] for row in rows_of(study_charts(frame, manifest)["losses"], "fate")}
        assert ("state evicted (pool states)" in fates) is shown
        assert ("state evicted" in fates) is not shown


def test_what_was_not_stored_over_time_is_left_out() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    older = cells.drop([name for name in cells.columns if name.startswith("block_lost_")])
    names = set(study_charts(older, manifest))
    assert {"rate_over_time", "occupancy"} <= names
    assert not {"losses_over_time", "losses_over_time_baseline"} & names


def test_few_policies_are_followed_where_many_worlds_share_a_page() -> None:
    (world,) = compare(*sample())
    rows = rows_of(world_charts(world, followed=3)["occupancy"], "KV")
    assert [*dict.fromkeys(row["series"] for row in rows)] == ["branch", "block:size=1024", "none"]


def test_one_capacity_has_no_capacity_curve_and_one_placer_no_differences() -> None:
    assert "capacity_curve" not in study_charts(*sample(capacities=[None]))
    assert not {"difference_hit_rate", "difference_ttft"} & set(study_charts(*sample(["last"])))


def test_failed_and_empty_studies_have_no_charts() -> None:
    cells, manifest = sample(["last", "branch"], [None])
    assert not study_charts(with_failures(cells, pl.lit(value=True), "boom"), manifest)
    assert not study_charts(*sample(["last", "branch"], [None], requests=0))


def test_the_charts_of_a_second_world_are_numbered() -> None:
    cells, manifest = sample(["last", "branch"], [None], replications=1)
    both = pl.concat([cells, cells.with_columns(pl.lit("other").alias("workload"))])
    names = study_charts(both, manifest)
    assert {"losses", "losses-2"} <= set(names)


def test_a_misspelt_field_a_number_that_is_none_and_too_many_rows_raise() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]})
    chart = alt.Chart(frame).mark_point()
    assert checked(chart.encode(x="x:Q", y="y:Q"))
    with pytest.raises(ValueError, match="no data has the field 'z'"):
        checked(chart.encode(x="x:Q", y="z:Q"))
    values = [{"x": float("inf")}]
    with pytest.raises(ValueError, match="JSON"):
        checked(alt.Chart(alt.Data(values=values)).mark_point().encode(x="x:Q"))
    many = alt.Data(values=[{"x": 1}] * 5001)
    with pytest.raises(ValueError, match="5001 rows"):
        checked(alt.Chart(many).mark_point().encode(x="x:Q"))


def test_a_difference_says_what_is_known_of_it() -> None:
    sure = Estimate(0.2, 0.1, 0.3, "blocks", 64, 15, 0.01)
    words = {
        " better": sure,
        " worse": replace(sure, margin=Margin(0.0, less_is_better=True)),
        " unsure": replace(sure, p_holm=0.2),
        " tied": replace(sure, margin=Margin(0.3)),
        " equal": Estimate(0.0, 0.0, 0.0, "blocks", 64, 15),
    }
    assert [verdict_word(estimate) for estimate in words.values()] == list(words)
    assert verdict_word(Estimate(0.2)) == ""


def test_differences_are_told_with_their_interval() -> None:
    assert explained(Estimate(0.123, 0.11, 0.134), 0.01, "points") == "+12.3 points [11.0, 13.4]"
    assert explained(Estimate(-0.004), 0.01, "pt") == "\N{MINUS SIGN}0.40 pt"


def test_images_are_written_whole(tmp_path: Path, charts: dict[str, Any]) -> None:
    one = {"losses": charts["losses"]}
    starts = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}
    for kind, start in starts.items():
        (path,) = write_images(one, tmp_path, kind)
        assert path.read_bytes().startswith(start)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["losses.pdf", "losses.png", "losses.svg"]
    with pytest.raises(UsageError, match="cannot be written"):
        write_images(one, tmp_path / "absent", "svg")

"""The charts of where states are stored."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from reports.charts.lint import checked
from reports.charts.positions import OctaveAxis
from reports.pages.study.world import position_words
from reports.report import plain
from reports.results.comparison import compare
from tests.reports.charts.test_charts import rows_of
from tests.reports.pages.rendering import render_study, study_charts, world_charts
from tests.reports.sample_study import GIB, PLACERS, sample

NAMES = (
    "positions",
    "positions_from_start",
    "positions_from_end",
    "positions_from_branch",
    "positions_by_label",
)
STORING = [placer for placer in PLACERS if placer not in ("none", "dense")]


@pytest.fixture(scope="module")
def charts() -> dict[str, Any]:
    return dict(study_charts(*sample()))


def test_kinds_sum_to_all_states_and_those_without_any_come_last(charts: dict[str, Any]) -> None:
    rows = rows_of(charts["positions"], "share", "kind")
    shares: dict[str, float] = {}
    for row in rows:
        shares[row["series"]] = shares.get(row["series"], 0.0) + row["share"]
    assert [*shares] == [*STORING, "none", "dense"]
    assert {shares[name] for name in ("none", "dense")} == {0.0}
    assert all(shares[name] == pytest.approx(1) for name in STORING)
    kinds = checked(charts["positions"])["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert "in the answer" not in kinds  # no state lies there


@pytest.mark.parametrize("point", ["start", "end", "branch"])
def test_histograms_hold_all_states_of_all_replications(charts: dict[str, Any], point: str) -> None:
    cells, _ = sample()
    rows = rows_of(charts[f"positions_from_{point}"], "octave", "states")
    assert list(dict.fromkeys(row["series"] for row in rows)) == STORING
    for name in STORING:
        at_focus = cells.filter((pl.col("placer") == name) & (pl.col("capacity_bytes") == 4 * GIB))
        bins = [sum(column) for column in zip(*at_focus[f"bins_from_{point}"], strict=True)]
        mine = [row for row in rows if row["series"] == name]
        assert len(mine) == sum(map(bool, bins))
        assert [row["first"] for row in mine] == [True] + [False] * (len(mine) - 1)
        assert max(mine, key=lambda row: row["thick"])["octave"] == bins.index(max(bins)) + (
            1 if point == "start" else -24
        )


def test_labels_follow_the_policy_in_the_light(charts: dict[str, Any]) -> None:
    rows = rows_of(charts["positions_by_label"], "label", "octave")
    assert rows[0]["series"] == "branch"  # the best, until another is lit
    assert {row["told"] for row in rows} == {"50 % of the states"}
    assert {(row["label"], row["row"]) for row in rows} == {("chat", 0), ("task", 1)}
    bars = [(row["series"], row["label"], row["octave"]) for row in rows]
    assert len(bars) == len({*bars})  # each is drawn once, and with it the name of its row


def test_octaves_in_which_nothing_can_lie_take_no_room() -> None:
    rows = [{"octave": n} for n in (-9, -7, 0, 8)]  # on a grid of 64 tokens
    across = OctaveAxis.of(rows)
    assert (across.skipped, across.first, across.last) == (6, -3, 2)
    placed = [round(across.placed(row)["from"] + 0.45) for row in rows]
    assert placed == [-3, -1, 0, 2]
    axis = across.channel("end").to_dict()["axis"]
    assert axis["values"] == [-3, -2, -1, 0, 1, 2]
    assert '"-1": "\\u221264"' in axis["labelExpr"]
    assert '"2": "+128"' in axis["labelExpr"]


def test_cells_of_an_older_version_have_no_such_charts() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    gone = [name for name in cells.columns if name.startswith(("positions_", "bins_"))]
    older = cells.drop(gone)
    assert not {*NAMES} & {*study_charts(older, manifest)}
    assert "Where the states are" not in render_study(older, manifest)


def test_nothing_stored_is_told_and_has_no_histogram() -> None:
    cells, manifest = sample(["none", "dense"], [None])
    charts = study_charts(cells, manifest)
    assert {*NAMES} & {*charts} == {"positions"}
    (world,) = compare(cells, manifest)
    assert [nearest for _, nearest in position_words(world, 24)] == [("",), ("",)]


def test_few_are_drawn_where_many_worlds_share_a_page() -> None:
    (world,) = compare(*sample())
    rows = rows_of(world_charts(world, followed=3)["positions_from_end"], "octave")
    assert len({row["series"] for row in rows}) == 3


def test_words_name_the_series_and_not_its_placer_alone() -> None:
    cells, manifest = sample(["branch", "last"], [8 * GIB])
    other = cells.with_columns(eviction=pl.lit("clairvoyant"))
    (world,) = compare(pl.concat([cells, other]), manifest)
    named = [plain(words).partition(" stores")[0] for words, _ in position_words(world, 24)]
    assert {*named} == {series.label for series in world.series}


def test_words_are_on_the_page() -> None:
    page = render_study(*sample(["last", "branch"], [8 * GIB]))
    assert "<code>branch</code> stores 1.41 states a request." in page
    assert "<small>No engine setting is near.</small>" in page

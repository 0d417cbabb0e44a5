"""A policy looks the same wherever it is drawn, and legends list what occurs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl

from reports.capacity.charts import looks_of as looks_of_answers
from reports.charts.curves import Axis, curves
from reports.charts.lint import checked
from reports.pages.study.world import keys_of, world_section
from reports.results.comparison import compare
from reports.results.points import WorldPoints
from tests.reports.pages.rendering import world_charts
from tests.reports.sample_study import GIB, sample

SIZES = [f"block:size={2**power}" for power in range(5, 10)]


def looks_drawn(world: WorldPoints) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return colour and dash of each series in the chart of savings."""
    chart = checked(world_charts(world)["pareto_savings"])
    encoding = chart["layer"][0]["encoding"]
    scales = [encoding[name]["scale"] for name in ("color", "strokeDash")]
    names = scales[0]["domain"]
    assert names == scales[1]["domain"]
    pairs = zip(scales[0]["range"], map(tuple, scales[1]["range"]), strict=True)
    return dict(zip(names, pairs, strict=True))


def test_a_subset_in_any_order_looks_as_in_the_whole_study() -> None:
    (world,) = compare(*sample(["last", *SIZES, "branch"], [8 * GIB]))
    whole = looks_drawn(world)
    assert len(set(whole.values())) == len(whole) == 7
    fewer = replace(world, series=world.series[:2:-1])
    drawn = looks_drawn(fewer)
    assert len(drawn) == 4
    assert drawn == {name: whole[name] for name in drawn}
    assert {key.name: (key.colour, key.dash) for key in keys_of(fewer)} == {
        name: (colour, " ".join(map(str, dash))) for name, (colour, dash) in drawn.items()
    }


def test_it_looks_the_same_in_every_world_of_a_study_whoever_failed_there() -> None:
    cells, manifest = sample(["last", *SIZES], [8 * GIB])
    other = cells.filter(pl.col("placer") != SIZES[0]).with_columns(server=pl.lit("instant"))
    first, second = compare(pl.concat([cells, other]), manifest)
    assert SIZES[0] not in {series.name for series in second.series}
    drawn = looks_drawn(second)
    assert drawn == {name: looks_drawn(first)[name] for name in drawn}


def test_a_capacity_page_draws_them_as_a_sweep_does() -> None:
    (world,) = compare(*sample(["last", *SIZES], [8 * GIB]))
    known = {"eviction": "lru", "admission": "always"}
    answers: Any = [
        SimpleNamespace(name=s.name, label=s.name, placer=s.placer, **known) for s in world.series
    ]
    assert looks_of_answers(answers) == world.looks
    assert looks_of_answers(answers[::-1]) == world.looks


def swatches(world: WorldPoints, chart: str) -> list[str]:
    (panel,) = (each for each in world_section(0, world, 1).panels if each.image == chart)
    return [name for name, *_ in panel.swatches]


def test_legends_list_what_occurs() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    (world,) = compare(cells, manifest)
    fates = swatches(world, "losses")
    bare = cells.with_columns(
        lost_state_evicted_tokens=pl.lit(0), block_checkpoint_bytes=pl.lit([0] * 64)
    )
    (world,) = compare(bare, manifest)
    less = swatches(world, "losses")
    assert less == [fate for fate in fates if fate != "state evicted"]
    assert swatches(world, "occupancy") == ["KV"]
    chart = checked(world_charts(world)["losses"])
    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == less


def test_a_policy_that_failed_everywhere_has_no_key() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    failed = pl.when(pl.col("placer") == "branch").then(pl.lit("no")).otherwise(None)
    (world,) = compare(cells.with_columns(error=failed), manifest)
    assert [key.name for key in keys_of(world)] == ["last"]


def test_a_curve_without_points_is_not_in_the_legend() -> None:
    series = {"a": ([1.0, 2.0], [1.0, 2.0]), "b": ([], [])}
    chart = checked(curves(series, {"a": "#000000", "b": "#ffffff"}, Axis("x"), Axis("y")))
    (scale,) = {
        str(layer["encoding"]["color"]["scale"]["domain"])
        for layer in chart["layer"]
        if "color" in layer["encoding"]
    }
    assert scale == "['a']"

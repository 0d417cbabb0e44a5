"""Pareto charts and the capacity curve, with a line for each series (policy)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from reports.charts.bars import differences_at_focus, leading
from reports.charts.rows import STEP
from reports.charts.theme import (
    HEIGHT,
    along,
    byte_unit,
    layered,
    lit,
    pick,
    scale,
    second_unit,
    series_encodings,
    tips,
    up,
)
from reports.palette import GREY
from reports.words import known
from simulator.base.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from reports.results.points import Point, WorldPoints

Height = Literal["token_hit_rate", "ttft_seconds"]


def pareto(world: WorldPoints, height: Height) -> alt.LayerChart | None:
    """Draw token hit rate or mean TTFT against realised bytes; None where no cell has both.

    Realised bytes are the mean over time of the bytes in the cache, not its capacity. The chart is
    as tall as the chart of differences, which is beside it.
    """
    rows = [row for point in _in_order(world) if (row := _row(world, point, height))]
    if not rows:
        return None
    size_name, size = byte_unit([row["width"] for row in rows])
    y, unit = _vertical(height, [row["height"] for row in rows])
    frame = pl.DataFrame(rows).with_columns(
        (pl.col("width") / size).alias("realised"), (pl.col("height") / unit).alias("value")
    )
    x = alt.X(
        "realised:Q",
        title=f"Realised bytes, mean over time ({size_name})",
        scale=scale(frame["realised"].to_list(), 8),
        axis=along(),
    )
    chart = _lines(frame.drop("width", "height"), world, x, y)
    chart.height = max(HEIGHT, STEP * len(leading(differences_at_focus(world, height))))
    return chart


def capacity_curve(world: WorldPoints) -> alt.LayerChart | None:
    """Draw token hit rate against capacity; None where there is only one capacity."""
    rows = [
        row for point in _in_order(world) if (row := _row(world, point, "token_hit_rate", False))
    ]
    if not rows or len(world.capacities) < 2:
        return None
    y, _ = _vertical("token_hit_rate", [])
    axis = along(labelAngle=0)
    x = alt.X("capacity:O", sort=list(world.capacities), title="Capacity", axis=axis)
    frame = pl.DataFrame(rows).with_columns(pl.col("height").alias("value"))
    chart = _lines(frame.drop("width", "height"), world, x, y)
    chart.layer = [*_ideal_line(world), *_bound_line(world, x), *chart.layer]
    return chart


def _ideal_line(world: WorldPoints) -> list[alt.Chart]:
    """Return a rule at the hit rate of an unbounded cache with a state at every position."""
    ideal = _ideal(world)
    if ideal is None:
        return []
    line = alt.Chart(
        pl.DataFrame({"ideal": [ideal], "note": ["ideal: unbounded, a state everywhere"]})
    )
    text = line.mark_text(align="right", dy=-11, fontSize=11, color=GREY)
    return [
        line.mark_rule(color=GREY).encode(y="ideal:Q"),
        text.encode(y="ideal:Q", x=alt.value("width"), text="note:N"),
    ]


def _bound_line(world: WorldPoints, x: alt.X) -> list[alt.Chart]:
    """Return a dotted line at the upper bound for all policies, where each capacity has one.

    Its name is below the line, since the ideal is never lower and has its name above its line.
    """
    points = [max(world.at(c), key=lambda p: len(p.rows)) for c in world.capacities]
    rows = [
        {"capacity": point.capacity, "bound": bound / point.total("prompt_tokens")}
        for point in points
        if (bound := point.bound_tokens) is not None and point.total("prompt_tokens")
    ]
    if len(rows) < len(world.capacities):
        return []
    base = alt.Chart(pl.DataFrame(rows)).encode(x=x, y="bound:Q")
    line = base.mark_line(color=GREY, strokeDash=[1, 5], strokeWidth=2, strokeCap="round")
    name = pl.DataFrame([rows[0] | {"note": "best possible"}])
    text = alt.Chart(name).mark_text(dy=13, fontSize=11, color=GREY)
    return [line.encode(order="bound:Q"), text.encode(x=x, y="bound:Q", text="note:N")]


def _in_order(world: WorldPoints) -> list[Point]:
    keys = ((series.name, capacity) for series in world.series for capacity in world.capacities)
    return [world.points[key] for key in keys if key in world.points]


def _row(
    world: WorldPoints, point: Point, height: Height, needs_bytes: bool = True
) -> dict[str, Any] | None:
    estimate = getattr(point, height)
    width = point.mean("cache_mean_bytes")
    if estimate is None or (needs_bytes and width is None):
        return None
    ttft = point.ttft_seconds
    return {
        "series": point.series.name,
        "label": point.series.label,
        "capacity": point.capacity,
        "order": world.capacities.index(point.capacity),
        "width": width,
        "height": estimate.value,
        "saved": f"{100 * point.share('saved_tokens'):.1f} % "
        f"({format_count(point.total('saved_tokens'))} of "
        f"{format_count(point.total('prompt_tokens'))})",
        "ttft": format_seconds(ttft.value) if ttft else "n/a",
        "bytes": known(width, format_bytes),
    }


def _vertical(height: Height, values: Sequence[float]) -> tuple[alt.Y, float]:
    """Return the vertical channel and the unit of its values."""
    if height == "token_hit_rate":
        percent = alt.Scale(zero=False, nice=True)
        return alt.Y("value:Q", title="Token hit rate", axis=up(format="%"), scale=percent), 1.0
    name, unit = second_unit(values)
    title, axis = f"Mean time to first token ({name})", up(labelOverlap=True)
    return alt.Y("value:Q", title=title, axis=axis, scale=scale(values, 20)), unit


def _lines(frame: Any, world: WorldPoints, x: alt.X, y: alt.Y) -> alt.LayerChart:
    look = series_encodings(world, set(frame["series"]))
    tooltip = tips(
        label="policy",
        capacity="capacity",
        saved="saved tokens",
        ttft="mean TTFT",
        bytes="realised bytes",
    )
    base = alt.Chart(frame).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2).encode(
        order="order:Q", **pick(look, "color", "strokeDash", "opacity")
    )
    points = base.mark_point(size=64, filled=True).encode(
        tooltip=tooltip, **pick(look, "color", "shape", "opacity")
    )
    return layered(line, points, params=[lit()])


def _ideal(world: WorldPoints) -> float | None:
    """Return the hit rate of an unbounded cache with a state at every position, where known."""
    for point in world.points.values():
        tokens = point.total("ideal_saved_tokens")
        if tokens and all(row.get("ideal_saved_tokens") is not None for row in point.rows):
            return tokens / max(point.total("prompt_tokens"), 1)
    return None

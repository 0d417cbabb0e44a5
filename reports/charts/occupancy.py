"""What the cache held over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from reports.charts.over_time import TimeAxis, blocks_of, follow, over_time, params, rounded
from reports.charts.theme import byte_unit

if TYPE_CHECKING:
    from reports.results.points import Point

KINDS = {"KV": "#7b8fa6", "checkpoints": "#c9803c"}
COLUMNS = {"KV": "block_kv_bytes", "checkpoints": "block_checkpoint_bytes"}


def occupancy(
    points: Sequence[Point], most_bytes: float, *, warmed: bool = False
) -> alt.LayerChart | None:
    """Draw KV and checkpoint bytes of the first replication; None where none were stored.

    Parameters
    ----------
    points
        The first is drawn until a page lights up another.
    most_bytes
        The top of the axis: two charts compare only where it is the same.
    warmed
        Whether a warm-up was cut, which is shaded.
    """
    held = {p.series.name: row for p in points if (row := blocks_of(p, [*COLUMNS.values()]))}
    if points[0].series.name not in held:
        return None
    clock = TimeAxis.of(held[points[0].series.name], warmed=warmed)
    unit, size = byte_unit([most_bytes])
    rows = [
        {"series": name, "time": time}
        | rounded({kind: row[column][block] / size for kind, column in COLUMNS.items()})
        for name, row in held.items()
        for block, time in enumerate(clock.times(row))
    ]
    kinds = [kind for kind in KINDS if any(row[kind] for row in rows)] or [*KINDS]
    colours = alt.Scale(domain=kinds, range=[KINDS[kind] for kind in kinds])
    tooltip = [
        alt.Tooltip("series:N", title="policy"),
        alt.Tooltip("kind:N"),
        alt.Tooltip("time:Q", title=clock.title, format=".3~g"),
        alt.Tooltip("held:Q", title=f"{unit} held", format=".3~g"),
    ]
    top = alt.Scale(domain=[0, most_bytes / size or 1.0])
    chart = follow(alt.Chart(pl.DataFrame(rows))).transform_fold([*kinds], as_=["kind", "held"])
    areas = chart.mark_area(opacity=0.85, interpolate="step-after", clip=True).encode(
        x=clock.axis(),
        y=alt.Y("held:Q", title=f"Bytes held ({unit})", axis=alt.Axis(tickCount=5), scale=top),
        color=alt.Color("kind:N", scale=colours, legend=alt.Legend(title=None)),
        tooltip=tooltip,
    )
    return over_time([areas, *clock.shade()], params([*held]))


def kinds_held(points: Sequence[Point]) -> list[str]:
    """Return which kinds of bytes any of the points held at the end of a block."""
    rows = [row for point in points if (row := blocks_of(point, [*COLUMNS.values()]))]
    return [kind for kind, column in COLUMNS.items() if any(any(row[column]) for row in rows)]


def most_held(points: Sequence[Point]) -> float:
    """Return the most bytes that any of the points held, at the end of a block."""
    rows = [row for point in points if (row := blocks_of(point, [*COLUMNS.values()]))]
    held = [
        kv + state
        for row in rows
        for kv, state in zip(*(row[column] for column in COLUMNS.values()), strict=True)
    ]
    return float(max(held, default=0))

"""What the cache held over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from reports.charts.theme import HEIGHT, WIDTH, byte_unit, clock_unit

if TYPE_CHECKING:
    from reports.evidence import Row
    from reports.points import Point

KINDS = {"KV": "#7b8fa6", "checkpoints": "#c9803c"}
_COLUMNS = {"KV": "block_kv_bytes", "checkpoints": "block_checkpoint_bytes"}


def occupancy(point: Point, most_bytes: float) -> alt.Chart | None:
    """Draw KV and checkpoint bytes of the first replication; None where none were stored.

    `most_bytes` is the top of the axis: charts of two points compare only where it is the same.
    """
    row = point.rows[0] if point.rows else None
    if row is None or not _complete(row):
        return None
    times, title = _times(row)
    name, size = byte_unit([most_bytes])
    rows = [
        {"series": point.series.name, "time": time, "kind": kind, "held": held / size}
        for kind, column in _COLUMNS.items()
        for time, held in zip(times, row[column], strict=True)
    ]
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    tooltip = [
        alt.Tooltip("kind:N"),
        alt.Tooltip("time:Q", title=title, format=".3~g"),
        alt.Tooltip("held:Q", title=f"{name} held", format=".3~g"),
    ]
    tight = alt.Scale(nice=False, zero=False)
    top = alt.Scale(domain=[0, most_bytes / size or 1.0])
    chart: alt.Chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_area(opacity=0.85, interpolate="step-after")
        .encode(
            x=alt.X("time:Q", title=title, axis=alt.Axis(grid=False, tickCount=6), scale=tight),
            y=alt.Y("held:Q", title=f"Bytes held ({name})", axis=alt.Axis(tickCount=5), scale=top),
            color=alt.Color("kind:N", scale=colours, legend=alt.Legend(title=None)),
            tooltip=tooltip,
        )
        .properties(width=WIDTH, height=HEIGHT * 3 // 4)
    )
    return chart


def most_held(points: list[Point]) -> float:
    """Return the most bytes that any of the points held, at the end of a block."""
    rows = [point.rows[0] for point in points if point.rows and _complete(point.rows[0])]
    held = [
        kv + state
        for row in rows
        for kv, state in zip(row[_COLUMNS["KV"]], row[_COLUMNS["checkpoints"]], strict=True)
    ]
    return float(max(held, default=0))


def _complete(row: Row) -> bool:
    columns = [row.get(name) or [] for name in ("block_arrival_seconds", *_COLUMNS.values())]
    whole = len({len(column) for column in columns}) == 1
    return whole and len(columns[0]) > 1 and all(v is not None for c in columns for v in c)


def _times(row: Row) -> tuple[list[float], str]:
    """Return the horizontal position of each block: arrival times, or its number without any."""
    arrivals = [float(value) for value in row["block_arrival_seconds"]]
    span = arrivals[-1] - arrivals[0]
    if span <= 0:
        return [float(index) for index in range(len(arrivals))], "Block of consecutive requests"
    name, size = clock_unit(span)
    return [value / size for value in arrivals], f"Simulated time ({name})"

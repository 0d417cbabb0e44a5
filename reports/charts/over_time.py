"""Shared parts of charts over time: blocks of requests, and the range and series selected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from reports.charts.theme import HEIGHT, LIT, along, clock_unit, layered, lit, painted, tips
from reports.palette import GREY

if TYPE_CHECKING:
    from reports.results.evidence import Row
    from reports.results.points import Point

SPAN = "span"
FOLLOWED = "followed"
_ARRIVALS = "block_arrival_seconds"


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The horizontal axis of blocks of requests: arrival times, or block numbers without a unit.

    `warmup` is the duration of the warm-up before the first block, which is not counted.
    """

    title: str
    unit: str
    unit_seconds: float | None
    warmup: float = 0.0

    @classmethod
    def of(cls, row: Row, *, warmed: bool) -> TimeAxis:
        """Return the axis for the blocks of a cell; `warmed` if a warm-up precedes them."""
        span = float(row[_ARRIVALS][-1]) - float(row[_ARRIVALS][0])
        if span <= 0:
            return cls("Block of consecutive requests", "blocks", None)
        unit, size = clock_unit(span)
        warmup = float(row[_ARRIVALS][0]) / size if warmed else 0.0
        return cls(f"Simulated time ({unit})", unit, size, warmup)

    def times(self, row: Row) -> list[float]:
        """Return the position of each block on the axis: when its first request arrives."""
        if self.unit_seconds is None:
            return [float(block) for block in range(len(row[_ARRIVALS]))]
        return [float(arrival) / self.unit_seconds for arrival in row[_ARRIVALS]]

    def axis(self, field: str = "time") -> alt.X:
        """Return the horizontal channel for a field."""
        tight = alt.Scale(nice=False, zero=False, domainRaw=alt.ExprRef(SPAN))
        ticks = along(labelOverlap=alt.Undefined)
        return alt.X(f"{field}:Q", title=self.title, scale=tight, axis=ticks)

    def shade(self) -> list[alt.Chart]:
        """Return a grey band with a label over the warm-up; nothing without a warm-up."""
        if not self.warmup:
            return []
        ends = {"start": [0.0], "end": [self.warmup], "middle": [self.warmup / 2]}
        base = alt.Chart(pl.DataFrame(ends | {"name": ["warm-up"]}))
        band = base.mark_rect(color=GREY, opacity=0.2, clip=True)
        text = base.mark_text(angle=270, fontSize=11, clip=True)
        return [
            band.encode(x=self.axis("start"), x2="end:Q"),
            text.encode(x=self.axis("middle"), y=alt.value({"expr": "height / 2"}), text="name:N"),
        ]


def blocks_of(point: Point, columns: Sequence[str]) -> Row | None:
    """Return the first replication; None unless it has two or more blocks and all columns."""
    row = point.rows[0] if point.rows else None
    if row is None:
        return None
    values = [row.get(name) or [] for name in (_ARRIVALS, *columns)]
    whole = len({len(column) for column in values}) == 1 and len(values[0]) > 1
    return row if whole and all(v is not None for column in values for v in column) else None


def span() -> alt.VariableParameter:
    """Return the Vega parameter with the two ends of the time shown; null shows all."""
    return alt.VariableParameter(name=SPAN, value=None)


def params(names: Sequence[str]) -> list[alt.VariableParameter]:
    """Return the Vega parameters of a chart over time.

    The page sets the first two: the selected series and the time range. The third is computed:
    the selected series if it is in `names`, else the first of `names`.
    """
    known = f"indexof({json.dumps(list(names))}, {LIT}) >= 0"
    followed = f"{known} ? {LIT} : {json.dumps(names[0])}"
    return [lit(), span(), alt.VariableParameter(name=FOLLOWED, expr=followed)]


def follow(chart: alt.Chart) -> alt.Chart:
    """Return the chart with only the rows of the series to draw (see `params`)."""
    filtered: alt.Chart = chart.transform_filter(f"datum.series == {FOLLOWED}")
    return filtered


def over_time(
    layers: Sequence[alt.Chart], params: Sequence[alt.VariableParameter]
) -> alt.LayerChart:
    """Return the layers as one chart, three quarters as tall as other charts."""
    return layered(*layers, height=HEIGHT * 3 // 4, params=list(params))


def areas_over_time(
    courses: Mapping[str, Row],
    clock: TimeAxis,
    parts: Callable[[Row, int], Mapping[str, float]],
    colours: Mapping[str, str],
    y: alt.Y,
    shown: tuple[str, str, str],
    **legend: Any,
) -> alt.LayerChart:
    """Draw stacked areas: the parts of a whole in each block of requests.

    Parameters
    ----------
    courses
        Series -> its blocks; the first is drawn until another is selected on the page.
    clock
        The horizontal axis of the first series; a warm-up is shaded.
    parts
        Function of a series' blocks and a block number that returns part -> size; nothing for an
        empty block.
    colours
        Part -> its colour, from the bottom up; a part that never occurs is left out.
    y
        The vertical axis, of the field `size`.
    shown
        The tooltip: titles of the part and of its size, and the number format of the size.
    legend
        Further properties of the legend.
    """
    rows = [
        {"series": name, "time": time} | rounded(sizes)
        for name, row in courses.items()
        for block, time in enumerate(clock.times(row))
        if (sizes := parts(row, block))
    ]
    names = [part for part in colours if any(row[part] for row in rows)] or [*colours]
    chart = (
        follow(alt.Chart(pl.DataFrame(rows)))
        .transform_fold([*names], as_=["part", "size"])
        .transform_calculate(rank="indexof(parts, datum.part)")
    )
    part, size, format = shown
    areas = chart.mark_area(interpolate="step-after", clip=True).encode(
        x=clock.axis(),
        y=y,
        color=painted("part", {name: colours[name] for name in names}, **legend),
        order="rank:Q",
        tooltip=tips(series="policy", part=part, time=(clock.title, ".3~g"), size=(size, format)),
    )
    order = alt.VariableParameter(name="parts", value=names)
    return over_time([areas, *clock.shade()], [*params([*courses]), order])


def rounded(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the values rounded to four digits, which is finer than a chart can show."""
    return {name: float(f"{value:.4g}") for name, value in values.items()}

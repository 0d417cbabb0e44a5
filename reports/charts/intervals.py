"""A chart with a row for each estimate: a point with its interval, and a name above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt
import polars as pl

from reports.charts.bars import bands, layered, row_names
from reports.charts.theme import IS_LIT, PALE
from reports.palette import GREY


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One row.

    Parameters
    ----------
    series
        What a page lights up it with.
    label
        The name above the mark.
    value, low, high
        In the unit of the axis; the ends are the value where there is no interval.
    text
        The same in words.
    colour
        Of the mark.
    """

    series: str
    label: str
    value: float
    low: float
    high: float
    text: str
    colour: str


def intervals(
    rows: Sequence[IntervalRow],
    title: str,
    *,
    zero: float | None = None,
    least: float | None = None,
) -> alt.LayerChart:
    """Draw the rows from top to bottom.

    Parameters
    ----------
    rows
        At least one.
    title
        Of the axis.
    zero
        Where a rule marks that there is no difference.
    least
        Where the axis begins, if not where the data do.
    """
    table = [{"row": index} | asdict(row) for index, row in enumerate(rows)]
    base = alt.Chart(pl.DataFrame(table, infer_schema_length=None)).encode(y=bands())
    opacity = alt.condition(IS_LIT, alt.value(1.0), alt.value(PALE))
    paint = alt.Color("colour:N", scale=None)
    axis = alt.Axis(tickCount=5, domain=False)
    ends = [row.high for row in rows]
    scale = (
        alt.Scale(zero=False, padding=12) if least is None else alt.Scale(domain=[least, max(ends)])
    )
    bars = base.mark_rule(strokeWidth=3, yOffset=9).encode(
        x=alt.X("low:Q", title=title, axis=axis, scale=scale),
        x2="high:Q",
        color=paint,
        opacity=opacity,
    )
    points = base.mark_point(filled=True, size=90, yOffset=9, opacity=1).encode(
        x="value:Q",
        color=paint,
        opacity=opacity,
        tooltip=[alt.Tooltip("label:N", title="of"), alt.Tooltip("text:N", title="estimate")],
    )
    return layered(len(rows), *_rule(zero), bars, points, *row_names(base, "text:N", 190))


def _rule(zero: float | None) -> list[alt.Chart]:
    if zero is None:
        return []
    return [alt.Chart(pl.DataFrame({"zero": [zero]})).mark_rule(color=GREY).encode(x="zero:Q")]

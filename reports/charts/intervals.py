"""A chart with a row for each estimate: its name, and a point with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt
import polars as pl

from reports.charts.bars import ON_LINE, bands, beside_names, few_ticks, layered, row_names
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
        The name on the line of the mark.
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
    log: bool = False,
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
    log
        Whether the axis is logarithmic.
    """
    table = [{"row": index} | asdict(row) for index, row in enumerate(rows)]
    base = alt.Chart(pl.DataFrame(table, infer_schema_length=None)).encode(y=bands())
    opacity = alt.condition(IS_LIT, alt.value(1.0), alt.value(PALE))
    paint = alt.Color("colour:N", scale=None)
    ends = [row.high for row in rows]
    kind: Any = {"type": "log", "nice": False} if log else {"zero": False}
    kind |= {"padding": 12} if least is None else {"domain": [least, max(ends)]}
    scale = alt.Scale(range=beside_names(), **kind)
    bars = base.mark_rule(strokeWidth=3, yOffset=ON_LINE).encode(
        x=alt.X("low:Q", title=title, axis=few_ticks(), scale=scale),
        x2="high:Q",
        color=paint,
        opacity=opacity,
    )
    points = base.mark_point(filled=True, size=90, yOffset=ON_LINE, opacity=1).encode(
        x="value:Q",
        color=paint,
        opacity=opacity,
        tooltip=[alt.Tooltip("label:N", title="of"), alt.Tooltip("text:N", title="estimate")],
    )
    return layered(len(rows), *_rule(zero), bars, points, *row_names(base, "text:N"))


def _rule(zero: float | None) -> list[alt.Chart]:
    if zero is None:
        return []
    return [alt.Chart(pl.DataFrame({"zero": [zero]})).mark_rule(color=GREY).encode(x="zero:Q")]

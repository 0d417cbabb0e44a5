"""Charts with a row for each series: estimates with intervals, and shares of a whole.

A row has its name at the left, its mark on the same line, and its figures below the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, log10
from typing import Any

import altair as alt
import polars as pl

from reports.charts.theme import in_light, layered, lit, painted, rule, tips

STEP = 40
ON_LINE = -8  # offset in pixels of name and mark from the middle of a row
_NAMES = "clamp(0.4 * width, 175, 260)"  # pixels for the names of rows
DWARFED = 30  # a difference so many times the usual one hides the others on a linear axis


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One row of a chart of estimates with intervals.

    Parameters
    ----------
    series
        The name of the series, by which a page highlights the row.
    label
        The name shown on the line of the mark.
    value, low, high
        The estimate and the ends of its interval in the unit of the axis; without an interval,
        both ends are the value.
    text
        The estimate and its interval as text.
    colour
        The colour of the mark.
    """

    series: str
    label: str
    value: float
    low: float
    high: float
    text: str
    colour: str

    @classmethod
    def of(
        cls,
        names: tuple[str, str],
        ends: tuple[float, float | None, float | None],
        size: float,
        text: str,
        colour: str,
    ) -> IntervalRow:
        """Return the row of a series: value, low and high, divided by the size of the unit."""
        value, *others = ends
        low, high = (value if end is None else end for end in others)
        return cls(*names, value / size, low / size, high / size, text, colour)


def intervals(
    rows: Sequence[IntervalRow],
    title: str,
    *,
    zero: float | None = None,
    least: float | None = None,
    log: bool = False,
) -> alt.LayerChart:
    """Draw the rows from top to bottom, each as a point with its interval.

    Parameters
    ----------
    rows
        The rows, at least one.
    title
        The title of the axis.
    zero
        The value without difference, marked by a rule. The axis is then symmetrically logarithmic
        if one difference is far larger than most.
    least
        The start of the axis; by default that of the data.
    log
        Whether the axis is logarithmic.
    """
    table = [{"row": index} | asdict(row) for index, row in enumerate(rows)]
    base = alt.Chart(pl.DataFrame(table, infer_schema_length=None)).encode(
        y=bands(), color=alt.Color("colour:N", scale=None), opacity=in_light()
    )
    symmetric = None if zero is None else _symmetric(rows, title)
    across = symmetric or _across(rows, title, least, log=log)
    bars = base.mark_rule(strokeWidth=3, yOffset=ON_LINE).encode(x=across, x2="high:Q")
    points = base.mark_point(filled=True, size=90, yOffset=ON_LINE, opacity=1).encode(
        x="value:Q", tooltip=tips(label="of", text="estimate")
    )
    names = alt.Chart(base.data).encode(y=bands())
    zeros = [] if zero is None else rule(zero)
    return in_bands(len(rows), *zeros, bars, points, *row_names(names, "text:N"))


def _across(rows: Sequence[IntervalRow], title: str, least: float | None, *, log: bool) -> alt.X:
    kind: Any = {"type": "log", "nice": False} if log else {"zero": False}
    most = max(row.high for row in rows)
    kind |= {"padding": 12} if least is None else {"domain": [least, most]}
    scale = alt.Scale(range=beside_names(), **kind)
    return alt.X("low:Q", title=title, axis=few_ticks(), scale=scale)


def _symmetric(rows: Sequence[IntervalRow], title: str) -> alt.X | None:
    """Return a symmetrically logarithmic channel if one difference far exceeds most, else None."""
    sizes = sorted(abs(row.value) for row in rows if row.value)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    if len(sizes) < 3 or sizes[-1] < DWARFED * usual:
        return None
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    powers = [10.0**k for k in range(ceil(log10(usual)), ceil(log10(sizes[-1])) + 1)]
    ticks = sorted([0.0, *powers, *(-power for power in powers)])
    shown = [tick for tick in ticks if low <= tick <= high]
    axis = few_ticks(values=shown, format=",~r", tickCount=alt.Undefined)
    symlog = alt.Scale(type="symlog", constant=usual, range=beside_names())
    return alt.X("low:Q", title=f"{title} (symmetric log scale)", axis=axis, scale=symlog)


def stacked(
    rows: Sequence[Mapping[str, Any]],
    part: str,
    colours: Mapping[str, str],
    title: str,
    columns: int,
    **shown: str,
) -> alt.LayerChart:
    """Draw the parts of a whole as a stacked bar in each row.

    Parameters
    ----------
    rows
        One per part, with the number of its `row`, `series` and `label`, its `rank` in the bar,
        its `share`, and in `told` the text below the name.
    part
        The field with the name of the part.
    colours
        Name of a part -> its colour, for all parts that occur.
    title
        The title of the axis.
    columns
        The number of columns of the legend.
    shown
        Further fields of the tooltip, with their titles.
    """
    base = alt.Chart(pl.DataFrame(rows)).encode(y=bands())
    whole = alt.Scale(domain=[0, 1], range=beside_names())
    bars = base.mark_bar(height=14, yOffset=ON_LINE).encode(
        x=alt.X("share:Q", title=title, axis=few_ticks(format=".0%"), scale=whole),
        color=painted(part, colours, columns=columns),
        order="rank:Q",
        opacity=in_light(),
        tooltip=tips(label="policy", **shown),
    )
    named = base.transform_filter("datum.rank == 0")
    return in_bands(rows[-1]["row"] + 1, bars, *row_names(named, "told:N"))


def bands() -> alt.Y:
    """Return the vertical channel: a band per row number, since names may be long or equal."""
    return alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))


def few_ticks(**more: Any) -> alt.Axis:
    """Return the horizontal axis, with few ticks since the names of rows take much width."""
    few = {"tickCount": alt.ExprRef("width < 480 ? 3 : 5")}
    shown = {"domain": False, "labelOverlap": "greedy", "titleAnchor": "end"}
    return alt.Axis(**{**few, **shown, **more})


def beside_names() -> list[alt.ExprRef]:
    """Return the range in pixels of a horizontal scale that leaves space for the names of rows."""
    return [alt.ExprRef(f"{_NAMES} + 8"), alt.ExprRef("width")]


def row_names(base: alt.Chart, note: str) -> list[alt.Chart]:
    """Return the texts of each row: its name on the line of the mark, and below it its figures."""
    text: Any = {"align": "left", "limit": alt.ExprRef(_NAMES)}
    return [
        base.mark_text(dy=ON_LINE, **text).encode(x=alt.value(0), text="label:N"),
        base.mark_text(dy=ON_LINE + 16, fontSize=11, fillOpacity=0.75, **text).encode(
            x=alt.value(0), text=note
        ),
    ]


def in_bands(
    rows: int, *layers: alt.Chart, params: Sequence[alt.VariableParameter] = ()
) -> alt.LayerChart:
    """Return the layers as one chart that is tall enough for `rows` rows."""
    return layered(*layers, height=STEP * rows, params=[*params] or [lit()])

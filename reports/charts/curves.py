"""Line charts: a line for each named series, on axes that may be logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import altair as alt
import polars as pl

from reports.charts.over_time import SPAN, span
from reports.charts.theme import along, layered, painted, rule, tips, up
from reports.palette import BLUE, GREY

Curve = tuple[Sequence[float], Sequence[float]]
_STROKES: dict[str, Any] = {  # for a legend whose lines differ in dashes
    "symbolType": "stroke",
    "symbolSize": 500,
    "symbolStrokeWidth": 2,
}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its title, its d3 number format, whether it is logarithmic, its ends.

    `over_time` marks a horizontal axis that shows the time range selected on the page.
    """

    title: str
    format: str = ",~f"
    log: bool = False
    domain: tuple[float, float] | None = None
    over_time: bool = False

    def scale(self) -> alt.Scale:
        """Return the scale of the axis."""
        ends: Any = {} if self.domain is None else {"domain": list(self.domain)}
        kind: Any = {"type": "log"} if self.log else {"zero": False}
        if self.over_time:
            kind["domainRaw"] = alt.ExprRef(SPAN)
        return alt.Scale(nice=False, **kind, **ends)


def curves(
    series: Mapping[str, Curve],
    colours: Mapping[str, str],
    x: Axis,
    y: Axis,
    *,
    steps: bool = False,
    below: Sequence[alt.Chart] = (),
    dashes: Mapping[str, Sequence[int]] | None = None,
) -> alt.LayerChart:
    """Draw a line for each of `series` (name -> x and y), on top of the charts in `below`.

    `dashes` (name -> stroke and gap in pixels) distinguish lines of one colour. The legend lists
    only series that are drawn. Texts in `below` are drawn above the lines, to stay readable.
    Points at 0 or less on a logarithmic axis are left out.
    """
    rows = [
        (name, float(at), float(height))
        for name, points in series.items()
        for at, height in zip(*points, strict=True)
        if (at > 0 or not x.log) and (height > 0 or not y.log)
    ]
    schema = {"series": pl.String, "x": pl.Float64, "y": pl.Float64}
    across, upwards = _channels(x, y, [height for _, _, height in rows])
    occurring = {name for name, _, _ in rows}
    names = [name for name in colours if name in occurring]
    strokes = {} if dashes is None else _STROKES
    paint = painted("series", {name: colours[name] for name in names}, **strokes)
    heights = ".1%" if "%" in y.format else ",.4~g"
    tooltip = tips(series=" ", x=(x.title, ",.4~g"), y=(y.title, heights))
    base = alt.Chart(pl.DataFrame(rows, schema=schema, orient="row")).encode(
        x=across, y=upwards, color=paint
    )
    shape: Any = {"interpolate": "step-after" if steps else "linear", "clip": x.over_time}
    line = base.mark_line(strokeWidth=2, **shape)
    if dashes is not None:
        drawn = alt.Scale(domain=names, range=[list(dashes[name]) for name in names])
        line = line.encode(strokeDash=alt.StrokeDash("series:N", scale=drawn, legend=None))
    targets = base.mark_point(size=80, opacity=0, filled=True, clip=x.over_time)
    texts = [chart for chart in below if chart.mark.type == "text"]
    under = [chart for chart in below if chart.mark.type != "text"]
    layers = [*under, line, *texts, targets.encode(tooltip=tooltip)]
    return layered(*layers, params=[span()] if x.over_time else alt.Undefined)


def curve(name: str, points: Curve, x: Axis, y: Axis, **how: Any) -> alt.LayerChart:
    """Draw a single line; `how` has further arguments of `curves`."""
    return curves({name: points}, {name: BLUE}, x, y, **how)


def level(value: float, name: str) -> list[alt.Chart]:
    """Return a dashed horizontal line at `value`, with its name above the left end."""
    return rule(value, "y", name)


def band(across: Sequence[float], low: Sequence[float], high: Sequence[float]) -> alt.Chart:
    """Return a grey area between two curves."""
    frame = pl.DataFrame({"x": across, "low": low, "high": high})
    chart: alt.Chart = alt.Chart(frame).mark_area(color=GREY, opacity=0.25, clip=True)
    return chart.encode(x="x:Q", y="low:Q", y2="high:Q")


def _channels(x: Axis, y: Axis, heights: Sequence[float]) -> tuple[alt.X, alt.Y]:
    across = alt.X("x:Q", title=x.title, scale=x.scale(), axis=along(format=x.format))
    lines: Any = {"values": _log_ticks(heights), "tickCount": alt.Undefined} if y.log else {}
    axis = up(format=y.format, labelOverlap="greedy", **lines)
    return across, alt.Y("y:Q", title=y.title, scale=y.scale(), axis=axis)


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Return powers of ten as ticks, and their multiples by 2 and 5 where the powers are few."""
    least, most = log10(min(values, default=1.0)), log10(max(values, default=1.0))
    low, high = floor(least), ceil(most)
    steps = (1, 2, 5) if most - least < 2.5 else (1,)
    return [step * 10.0**power for power in range(low, high + 1) for step in steps]

"""The common style of all charts: fonts, grid, units, colours and marks of series."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from reports.palette import GREY, Look

if TYPE_CHECKING:
    from reports.results.points import Series, WorldPoints

WIDTH = 640
HEIGHT = 300
INK, MUTED, RULE = "#1f2328", "#59636e", "#dfe3e8"

CONFIG: dict[str, Any] = {
    "font": "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    "background": "#ffffff",
    "view": {"stroke": None},
    "axis": {
        "domainColor": RULE,
        "gridColor": RULE,
        "labelColor": MUTED,
        "labelFontSize": 12,
        "labelSeparation": 8,
        "tickColor": RULE,
        "titleColor": MUTED,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
    "legend": {"labelColor": INK, "labelFontSize": 12, "labelLimit": 260, "orient": "bottom"},
    "text": {"color": INK, "fontSize": 12},
    "title": {"anchor": "start", "color": INK, "fontSize": 15, "fontWeight": 600, "offset": 12},
}

# The Vega parameter that a page sets to the name of the selected series; the others turn pale.
LIT = "lit"
IS_LIT = f"{LIT} == '' || datum.series == {LIT}"
PALE = 0.12

_BYTES = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0))
_SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
_CLOCK = (("h", 3600.0), ("min", 60.0), ("s", 1.0))


def byte_unit(values: Sequence[float]) -> tuple[str, float]:
    """Return a unit for the largest of `values` in bytes: its name and its size in bytes."""
    return _unit(_BYTES, max(values, default=0.0), 1.0)


def second_unit(values: Sequence[float]) -> tuple[str, float]:
    """Return a unit for the largest of `values` in seconds: its name and its size in seconds."""
    return _unit(_SECONDS, max(map(abs, values), default=0.0), 1.0)


def clock_unit(span_seconds: float) -> tuple[str, float]:
    """Return a unit for a time axis over `span_seconds`: its name and its size in seconds."""
    return _unit(_CLOCK, span_seconds, 3.0)


def scale(values: Sequence[float], wide: float) -> alt.Scale:
    """Return a linear scale, or a logarithmic one where positive `values` differ `wide`-fold."""
    positive = [value for value in values if value > 0]
    if len(positive) == len(values) and positive and max(positive) / min(positive) >= wide:
        return alt.Scale(type="log", nice=False, padding=12)
    return alt.Scale(zero=False, nice=True, padding=12)


def series_encodings(world: WorldPoints, drawn: Container[str]) -> dict[str, Any]:
    """Return colour, dash, shape and opacity channels for the field `series`.

    `drawn` has the names of the series in the chart; the legend lists only these.
    """
    series = [item for item in world.series if item.name in drawn]
    names = [item.name for item in series]
    look = [world.looks[name] for name in names]
    colour = alt.Scale(domain=names, range=[item.colour for item in look])
    legend = alt.Legend(title=None, columns=3, symbolStrokeWidth=0, labelExpr=_labels(series))
    paint = alt.Color("series:N", scale=colour, legend=legend)
    return {"color": paint, "opacity": in_light()} | _marks(names, look)


def _labels(series: Sequence[Series]) -> str:
    """Return the Vega expression of a legend's label: the series' name and marks."""
    marked = {item.name: item.label for item in series if item.marks}
    return f"{json.dumps(marked)}[datum.label] || datum.label"


def in_light() -> Any:
    """Return the opacity channel: all series opaque, or only the selected one, the others pale."""
    return alt.condition(IS_LIT, alt.value(1.0), alt.value(PALE))


def painted(field: str, colours: Mapping[str, str], **legend: Any) -> alt.Color:
    """Return the colour channel of a field, with a legend; `colours` maps its values."""
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(**{"title": None, **legend}))


def tips(**fields: str | tuple[str, str]) -> list[alt.Tooltip]:
    """Return a tooltip; each field is given its title, or title and number format."""
    return [
        alt.Tooltip(f"{name}:N", title=shown)
        if isinstance(shown, str)
        else alt.Tooltip(f"{name}:Q", title=shown[0], format=shown[1])
        for name, shown in fields.items()
    ]


def along(**more: Any) -> alt.Axis:
    """Return a horizontal axis without a grid."""
    return alt.Axis(**{"grid": False, "tickCount": 6, "labelOverlap": "greedy", **more})


def up(**more: Any) -> alt.Axis:
    """Return a vertical axis that shows only grid lines and labels."""
    return alt.Axis(**{"tickCount": 5, "domain": False, "ticks": False, **more})


def layered(*layers: Any, height: int = HEIGHT, **more: Any) -> alt.LayerChart:
    """Return the layers as one chart of the common width."""
    return alt.LayerChart(layer=list(layers), width=WIDTH, height=height, **more)


def rule(value: float, channel: str = "x", name: str = "", **look: Any) -> list[alt.Chart]:
    """Return a grey rule at a value of a channel; with a name, it is dashed and labelled."""
    line = alt.Chart(pl.DataFrame({"level": [value], "name": [name]}))
    style: Any = {"color": GREY} | ({"strokeDash": [4, 3]} if name else {}) | look
    drawn = line.mark_rule(**style).encode(**{channel: "level:Q"})
    if not name:
        return [drawn]
    shift, place = {
        "x": ({"dx": 6}, {"y": alt.value(HEIGHT - 12)}),
        "y": ({"dy": -8}, {"x": alt.value(4)}),
    }[channel]
    style = {"align": "left", "fontSize": 11} | shift
    return [
        drawn,
        line.mark_text(**style).encode(**{channel: "level:Q", "text": "name:N"}, **place),
    ]


def lit() -> alt.VariableParameter:
    """Return the Vega parameter with the name of the selected series; empty selects all."""
    return alt.VariableParameter(name=LIT, value="")


def _marks(names: Sequence[str], look: Sequence[Look]) -> dict[str, Any]:
    dash = alt.Scale(domain=names, range=[list(item.dash) for item in look])
    shape = alt.Scale(domain=names, range=[item.shape for item in look])
    return {
        "strokeDash": alt.StrokeDash("series:N", scale=dash, legend=None),
        "shape": alt.Shape("series:N", scale=shape, legend=None),
    }


def pick(encodings: Mapping[str, Any], *channels: str) -> dict[str, Any]:
    """Return the given `channels` of `encodings`."""
    return {channel: encodings[channel] for channel in channels}


def _unit(units: Sequence[tuple[str, float]], largest: float, at_least: float) -> tuple[str, float]:
    for name, size in units:
        if largest >= at_least * size:
            return name, size
    return units[-1]

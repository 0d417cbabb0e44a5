"""The charts of a capacity page: the metric, the cost and the variations, against capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from reports.capacity.answers import Answer, CapacityResult
from reports.capacity.target import Metric
from reports.charts.curves import Axis, Curve, curves, level
from reports.charts.rows import IntervalRow, intervals
from reports.charts.theme import byte_unit, second_unit
from reports.palette import COLOURS, GREY, Look, assigned
from reports.report.html import typeset
from reports.words import capital
from simulator.base.units import format_bytes

MOST_DRAWN = len(COLOURS)
WIDE = 20  # from this ratio on an axis is logarithmic


def drawn(result: CapacityResult) -> list[Answer]:
    """Return the answers that the charts have room for: the best, then in the study's order."""
    alive = [n for n, answer in enumerate(result.answers) if answer.trials]
    alive.sort(key=lambda n: n != result.best)
    return [result.answers[n] for n in sorted(alive[:MOST_DRAWN])]


def looks_of(answers: Sequence[Answer]) -> dict[str, Look]:
    """Return how each answer is drawn, by its label; `answers` are all that the study has.

    It is that of the first kind of policy in which they differ, as in a sweep.
    """
    kinds = ("placer", "eviction", "admission")
    kind = next((k for k in kinds if len({getattr(a, k) for a in answers}) > 1), kinds[0])
    styles = assigned({answer.name: getattr(answer, kind) for answer in answers})
    return {answer.label: styles[answer.name] for answer in answers}


def metric_curve(result: CapacityResult) -> alt.LayerChart | None:
    """Draw the target's metric against capacity, and the target as a line; None for no trials."""
    answers, metric, limit = drawn(result), result.goal.metric, result.goal.limit
    if not answers:
        return None
    series = {answer.label: _points(answer, "value") for answer in answers}
    heights = [limit, *(value for points in series.values() for _, value in points)]
    title, unit, format_ = _vertical(metric, heights)
    return _against_capacity(
        series,
        looks_of(result.answers),
        Axis(title, format_, log=_wide(heights)),
        unit,
        [
            *level(limit / unit, f"target: {metric.shown(limit)}"),
            *_interval(result.best_answer, limit / unit),
        ],
    )


def cost_curve(result: CapacityResult) -> alt.LayerChart | None:
    """Draw dollars per million prompt tokens against capacity; None without prices."""
    answers = [answer for answer in drawn(result) if answer.knee is not None]
    if not answers:
        return None
    name = "dollars_per_million_tokens"
    series = {answer.label: _points(answer, name) for answer in answers}
    heights = [value for points in series.values() for _, value in points]
    axis = Axis("Dollars per million prompt tokens", "$,.3~g", log=_wide(heights))
    return _against_capacity(series, looks_of(result.answers), axis, 1.0, _knees(answers))


def variation_bars(result: CapacityResult) -> alt.LayerChart | None:
    """Draw the least capacity under each variation, with its interval; None for none."""
    best = result.best_answer
    if best is None or not result.sensitivity:
        return None
    colour = looks_of(result.answers)[best.label].colour
    items = [("as asked", best, colour)]
    items += [(each.name, each.answer, GREY) for each in result.sensitivity if each.answer]
    unit, size = byte_unit([a.capacity_bytes for _, a, _ in items if a.capacity_bytes is not None])
    rows = [
        IntervalRow.of(
            (name, typeset(name)),
            (capacity, answer.low_bytes, answer.high_bytes),
            size,
            format_bytes(capacity),
            colour,
        )
        for name, answer, colour in items
        if (capacity := answer.capacity_bytes) is not None
    ]
    return intervals(rows, f"Least capacity ({unit})", log=True)


def _points(answer: Answer, name: str) -> list[tuple[int, float]]:
    """Return capacity and value of the trials that have one."""
    points = [(trial.capacity_bytes, getattr(trial, name)) for trial in answer.trials]
    return [(capacity, value) for capacity, value in points if value is not None]


def _against_capacity(
    series: Mapping[str, Sequence[tuple[int, float]]],
    styles: Mapping[str, Look],
    y: Axis,
    unit: float,
    below: Sequence[alt.Chart],
) -> alt.LayerChart:
    lines: dict[str, Curve] = {
        name: ([size / 2**30 for size, _ in points], [value / unit for _, value in points])
        for name, points in series.items()
    }
    colours = {name: look.colour for name, look in styles.items()}
    dashes = {name: look.dash for name, look in styles.items()}
    x = Axis("Capacity (GiB)", ",~g", log=True)
    return curves(lines, colours, x, y, below=below, dashes=dashes)


def _interval(answer: Answer | None, height: float) -> list[alt.Chart]:
    """Return the interval of the best answer, as a bar on the line of the target."""
    if answer is None or answer.capacity_bytes is None:
        return []
    ends = [end or answer.capacity_bytes for end in (answer.low_bytes, answer.high_bytes)]
    row = {"x": [ends[0] / 2**30], "x2": [ends[1] / 2**30], "at": [height]}
    bar = alt.Chart(pl.DataFrame(row)).mark_rule(strokeWidth=9, opacity=0.35, color=GREY)
    return [bar.encode(x="x:Q", x2="x2:Q", y="at:Q")]


def _knees(answers: Sequence[Answer]) -> list[alt.Chart]:
    """Return a ring at the cheapest capacity of each answer."""
    knees = [answer.knee for answer in answers if answer.knee is not None]
    places = [(each.capacity_bytes / 2**30, each.dollars_per_million_tokens) for each in knees]
    frame = pl.DataFrame(places, schema=["x", "at"], orient="row")
    ring = alt.Chart(frame).mark_point(size=160, strokeWidth=2.5, color=GREY, opacity=1)
    return [ring.encode(x="x:Q", y="at:Q")]


def _vertical(metric: Metric, heights: Sequence[float]) -> tuple[str, float, str]:
    """Return title, unit and format of the vertical axis."""
    title = capital(metric.title)
    if metric.unit == "seconds":
        name, unit = second_unit(heights)
        return f"{title} ({name})", unit, ",~r"
    if metric.unit == "share":
        return title, 1.0, "~%"
    return f"{title} ({'requests/s' if metric.unit == 'rate' else '$ per million'})", 1.0, ",~r"


def _wide(heights: Sequence[float]) -> bool:
    return min(heights) > 0 and max(heights) / min(heights) >= WIDE

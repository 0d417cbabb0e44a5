"""The charts of a capacity page: the metric, the cost and the variations, against capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from reports.capacity.answers import Answer
from reports.capacity.sentences import labelled
from reports.capacity.target import Metric, metric_named
from reports.charts.curves import Axis, Curve, curves, level
from reports.charts.intervals import IntervalRow, intervals
from reports.charts.theme import CONFIG, byte_unit, second_unit
from reports.page.document import typeset
from reports.palette import COLOURS, GREY, Look, assigned
from simulator.base.units import format_bytes

MOST_DRAWN = len(COLOURS)
WIDE = 20  # from this ratio on an axis is logarithmic

Report = Mapping[str, Any]
Drawing = alt.Chart | alt.LayerChart


def drawn(report: Report) -> list[Answer]:
    """Return the answers that the charts have room for: the best, then in the study's order."""
    answers, best = report["answers"], report["best"]
    alive = [n for n, answer in enumerate(answers) if answer["trials"]]
    alive.sort(key=lambda n: n != best)
    return [answers[n] for n in sorted(alive[:MOST_DRAWN])]


def looks_of(answers: Sequence[Answer]) -> dict[str, Look]:
    """Return how each answer is drawn, by its label; `answers` are all that the study has.

    It is that of the first kind of policy in which they differ, as in a sweep.
    """
    kinds = ("placer", "eviction", "admission")
    kind = next((k for k in kinds if len({answer[k] for answer in answers}) > 1), kinds[0])
    styles = assigned({answer["name"]: answer[kind] for answer in answers})
    return {labelled(answer): styles[answer["name"]] for answer in answers}


def capacity_charts(report: Report) -> dict[str, Drawing]:
    """Return the charts by name, for pages and for images; those with nothing to show left out."""
    charts = {
        "metric": (metric_curve(report), report["target"]["title"]),
        "cost": (cost_curve(report), "cost"),
        "variations": (variation_bars(report), f"least capacity for {report['target']['text']}"),
    }
    drawings: dict[str, Drawing] = {}
    for name, (chart, title) in charts.items():
        if chart is not None:
            chart.title = title[:1].upper() + title[1:]
            chart.config = alt.Config(**CONFIG)
            drawings[name] = chart
    return drawings


def metric_curve(report: Report) -> alt.LayerChart | None:
    """Draw the target's metric against capacity, and the target as a line; None for no trials."""
    answers = drawn(report)
    if not answers:
        return None
    metric, limit = metric_named(report["target"]["metric"]), report["target"]["limit"]
    heights = [value for answer in answers for _, value in _points(answer, "value")]
    title, unit, format_ = _vertical(metric, [*heights, limit])
    return _against_capacity(
        {labelled(answer): _points(answer, "value") for answer in answers},
        looks_of(report["answers"]),
        Axis(title, format_, log=_wide([*heights, limit])),
        unit,
        [*level(limit / unit, f"target: {metric.shown(limit)}"), *_interval(report, limit / unit)],
    )


def cost_curve(report: Report) -> alt.LayerChart | None:
    """Draw dollars per million prompt tokens against capacity; None without prices."""
    answers = [answer for answer in drawn(report) if answer["knee"] is not None]
    if not answers:
        return None
    name = "dollars_per_million_tokens"
    series = {labelled(answer): _points(answer, name) for answer in answers}
    heights = [value for points in series.values() for _, value in points]
    axis = Axis("Dollars per million prompt tokens", "$,.3~g", log=_wide(heights))
    return _against_capacity(series, looks_of(report["answers"]), axis, 1.0, _knees(answers))


def variation_bars(report: Report) -> alt.LayerChart | None:
    """Draw the least capacity under each variation, with its interval; None for none."""
    if report["best"] is None or not report["sensitivity"]:
        return None
    base = {"name": "as asked", "answer": report["answers"][report["best"]]}
    items = [item for item in [base, *report["sensitivity"]] if _capacity(item) is not None]
    name, size = byte_unit([item["answer"]["capacity_bytes"] for item in items])
    rows = [_bar(index, item, size, own_colour(report)) for index, item in enumerate(items)]
    return intervals(rows, f"Least capacity ({name})", log=True)


def own_colour(report: Report) -> str:
    """Return the colour of the policy of the answer."""
    return looks_of(report["answers"])[labelled(report["answers"][report["best"]])].colour


def _capacity(item: Mapping[str, Any]) -> int | None:
    answer = item["answer"]
    return None if answer is None else answer["capacity_bytes"]


def _bar(index: int, item: Mapping[str, Any], size: float, own: str) -> IntervalRow:
    answer = item["answer"]
    capacity = answer["capacity_bytes"]
    low, high = answer["low_bytes"] or capacity, answer["high_bytes"] or capacity
    return IntervalRow(
        item["name"],
        typeset(item["name"]),
        capacity / size,
        low / size,
        high / size,
        format_bytes(capacity),
        GREY if index else own,
    )


def _points(answer: Answer, name: str) -> list[tuple[int, float]]:
    """Return capacity and value of the trials that have one."""
    trials = [trial for trial in answer["trials"] if trial[name] is not None]
    return [(trial["capacity_bytes"], trial[name]) for trial in trials]


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


def _interval(report: Report, height: float) -> list[alt.Chart]:
    """Return the interval of the best answer, as a bar on the line of the target."""
    if report["best"] is None:
        return []
    answer = report["answers"][report["best"]]
    ends = [answer[key] or answer["capacity_bytes"] for key in ("low_bytes", "high_bytes")]
    row = {"x": [ends[0] / 2**30], "x2": [ends[1] / 2**30], "at": [height]}
    bar = alt.Chart(pl.DataFrame(row)).mark_rule(strokeWidth=9, opacity=0.35, color=GREY)
    return [bar.encode(x="x:Q", x2="x2:Q", y="at:Q")]


def _knees(answers: Sequence[Answer]) -> list[alt.Chart]:
    """Return a ring at the cheapest capacity of each answer."""
    knees = [answer["knee"] for answer in answers]
    frame = pl.DataFrame(
        {
            "x": [knee["capacity_bytes"] / 2**30 for knee in knees],
            "at": [knee["dollars_per_million_tokens"] for knee in knees],
        }
    )
    ring = alt.Chart(frame).mark_point(size=160, strokeWidth=2.5, color=GREY, opacity=1)
    return [ring.encode(x="x:Q", y="at:Q")]


def _vertical(metric: Metric, heights: Sequence[float]) -> tuple[str, float, str]:
    """Return title, unit and format of the vertical axis."""
    title = metric.title[:1].upper() + metric.title[1:]
    if metric.unit == "seconds":
        name, unit = second_unit(heights)
        return f"{title} ({name})", unit, ",~r"
    if metric.unit == "share":
        return title, 1.0, "~%"
    return f"{title} ({'requests/s' if metric.unit == 'rate' else '$ per million'})", 1.0, ",~r"


def _wide(heights: Sequence[float]) -> bool:
    return min(heights) > 0 and max(heights) / min(heights) >= WIDE

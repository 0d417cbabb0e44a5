"""How savings went over time: the token hit rate of every policy, and the losses of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from reports.charts.bars import FATES_IN_ORDER, Fate
from reports.charts.over_time import TimeAxis, blocks_of, follow, over_time, params, rounded
from reports.charts.theme import pick, series_encodings
from reports.palette import FATES, GREY

if TYPE_CHECKING:
    from reports.results.evidence import Row
    from reports.results.points import Point, WorldPoints

_RATE = ("block_saved_tokens", "block_prompt_tokens")


def rate_over_time(world: WorldPoints) -> alt.LayerChart | None:
    """Draw the token hit rate of each block at the focus, a line a policy.

    Only the policy in the light, or the best, has marks to point at: marks for all would be most of
    what a browser has to draw.
    """
    courses = [(p, row) for p in world.at(world.focus) if (row := blocks_of(p, _RATE))]
    if not courses:
        return None
    clock = TimeAxis.of(courses[0][1], warmed=world.warmed)
    rows = [
        {"series": point.series.name, "label": point.series.label, "time": time}
        | rounded({"rate": saved / prompts})
        for point, row in courses
        for time, saved, prompts in zip(clock.times(row), *(row[c] for c in _RATE), strict=True)
        if prompts
    ]
    look = series_encodings(world, {row["series"] for row in rows})
    axis = alt.Axis(format="%", tickCount=5, domain=False, ticks=False)
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=clock.axis(), y=alt.Y("rate:Q", title="Token hit rate", axis=axis)
    )
    line = base.mark_line(strokeWidth=2, interpolate="step-after", clip=True).encode(
        tooltip="label:N", **pick(look, "color", "strokeDash", "opacity")
    )
    tooltip = [
        alt.Tooltip("label:N", title="policy"),
        alt.Tooltip("time:Q", title=clock.title, format=".3~g"),
        alt.Tooltip("rate:Q", title="token hit rate", format=".1%"),
    ]
    best = world.best.series.name if world.best else courses[0][0].series.name
    names = [best, *(point.series.name for point, _ in courses)]
    targets = follow(base.mark_point(size=64, filled=True, clip=True)).encode(
        opacity=alt.value(0), tooltip=tooltip, **pick(look, "color")
    )
    return over_time([*clock.shade(), line, targets], params(names))


def losses_over_time(points: Sequence[Point], *, warmed: bool = False) -> alt.LayerChart | None:
    """Draw what became of the prompt tokens of each block; None where that was not stored.

    The first of `points` is drawn until a page lights up another. A warm-up that was cut is shaded.
    """
    columns = ["block_prompt_tokens", *map(_column, FATES_IN_ORDER)]
    courses = {p.series.name: row for p in points if (row := blocks_of(p, columns))}
    if points[0].series.name not in courses:
        return None
    clock = TimeAxis.of(courses[points[0].series.name], warmed=warmed)
    rows = [
        {"series": name, "time": time} | rounded(_shares(row, block))
        for name, row in courses.items()
        for block, time in enumerate(clock.times(row))
        if row["block_prompt_tokens"][block]
    ]
    names = [fate.name for fate in FATES_IN_ORDER if any(row.get(fate.name) for row in rows)]
    fates = [fate for fate in FATES_IN_ORDER if fate.name in names]
    colours = alt.Scale(domain=names, range=[FATES.get(f.key, GREY) for f in fates])
    axis = alt.Axis(format=".0%", tickCount=5, domain=False)
    chart = (
        follow(alt.Chart(pl.DataFrame(rows)))
        .transform_fold([*names], as_=["fate", "share"])
        .transform_calculate(rank="indexof(fates, datum.fate)")
    )
    areas = chart.mark_area(interpolate="step-after", clip=True).encode(
        x=clock.axis(),
        y=alt.Y("share:Q", title="Share of prompt tokens", axis=axis).scale(domain=[0, 1]),
        color=alt.Color("fate:N", scale=colours, legend=alt.Legend(title=None, columns=5)),
        order="rank:Q",
        tooltip=[
            alt.Tooltip("series:N", title="policy"),
            alt.Tooltip("fate:N", title="tokens"),
            alt.Tooltip("time:Q", title=clock.title, format=".3~g"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
        ],
    )
    order = alt.VariableParameter(name="fates", value=names)
    return over_time([areas, *clock.shade()], [*params([*courses]), order])


def _column(fate: Fate) -> str:
    return "block_saved_tokens" if fate.key == "saved" else f"block_lost_{fate.key}_tokens"


def _shares(row: Row, block: int) -> dict[str, float]:
    prompts = row["block_prompt_tokens"][block]
    return {fate.name: row[_column(fate)][block] / prompts for fate in FATES_IN_ORDER}

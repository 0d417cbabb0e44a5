"""Charts over time: the token hit rate of every policy; losses and bytes held of one policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from reports.charts.bars import Fate, fates_of
from reports.charts.over_time import (
    TimeAxis,
    areas_over_time,
    blocks_of,
    follow,
    over_time,
    params,
    rounded,
)
from reports.charts.theme import byte_unit, pick, series_encodings, tips, up

if TYPE_CHECKING:
    from reports.results.evidence import Row
    from reports.results.points import Point, WorldPoints

_RATE = ("block_saved_tokens", "block_prompt_tokens")
KINDS = {"KV": "#7b8fa6", "checkpoints": "#c9803c"}
COLUMNS = {"KV": "block_kv_bytes", "checkpoints": "block_checkpoint_bytes"}


def rate_over_time(world: WorldPoints) -> alt.LayerChart | None:
    """Draw the token hit rate of each block of requests, one line per policy.

    The capacity is the focus: the one that the answer is about. Only the policy selected on the
    page, or else the best, has marks to point at, since marks for all would slow the browser.
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
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=clock.axis(), y=alt.Y("rate:Q", title="Token hit rate", axis=up(format="%"))
    )
    line = base.mark_line(strokeWidth=2, interpolate="step-after", clip=True).encode(
        tooltip="label:N", **pick(look, "color", "strokeDash", "opacity")
    )
    tooltip = tips(label="policy", time=(clock.title, ".3~g"), rate=("token hit rate", ".1%"))
    best = world.best.series.name if world.best else courses[0][0].series.name
    names = [best, *(point.series.name for point, _ in courses)]
    targets = follow(base.mark_point(size=64, filled=True, clip=True)).encode(
        opacity=alt.value(0), tooltip=tooltip, **pick(look, "color")
    )
    return over_time([*clock.shade(), line, targets], params(names))


def losses_over_time(points: Sequence[Point], *, warmed: bool = False) -> alt.LayerChart | None:
    """Draw the shares of prompt tokens that were saved or lost in each block of requests.

    The first of `points` is drawn until another is selected on the page. With `warmed`, the
    warm-up, which is not counted, is shaded. None where blocks were not stored.
    """
    fates = fates_of(points)
    courses = _courses(points, ["block_prompt_tokens", *map(_column, fates)])
    if not courses:
        return None
    axis = up(format=".0%", ticks=alt.Undefined)
    return areas_over_time(
        courses,
        _clock(courses, warmed=warmed),
        lambda row, block: _shares(row, block, fates),
        {fate.name: fate.colour for fate in fates},
        alt.Y("size:Q", title="Share of prompt tokens", axis=axis).scale(domain=[0, 1]),
        ("tokens", "share", ".1%"),
        columns=5,
    )


def occupancy(
    points: Sequence[Point], most_bytes: float, *, warmed: bool = False
) -> alt.LayerChart | None:
    """Draw KV and checkpoint bytes of the first replication; None where none were stored.

    Parameters
    ----------
    points
        The first is drawn until another is selected on the page.
    most_bytes
        The top of the axis; two charts can be compared only if it is the same in both.
    warmed
        Whether there is a warm-up, which is not counted; it is shaded.
    """
    held = _courses(points, [*COLUMNS.values()])
    if not held:
        return None
    unit, size = byte_unit([most_bytes])
    top = alt.Scale(domain=[0, most_bytes / size or 1.0])
    return areas_over_time(
        held,
        _clock(held, warmed=warmed),
        lambda row, block: {kind: row[column][block] / size for kind, column in COLUMNS.items()},
        KINDS,
        alt.Y("size:Q", title=f"Bytes held ({unit})", axis=alt.Axis(tickCount=5), scale=top),
        ("kind", f"{unit} held", ".3~g"),
    )


def kinds_held(points: Sequence[Point]) -> list[str]:
    """Return which kinds of bytes (KV, checkpoints) any point held at the end of a block."""
    return [kind for kind, column in COLUMNS.items() if any(any(r[column]) for r in _held(points))]


def most_held(points: Sequence[Point]) -> float:
    """Return the most bytes that any of the points held at the end of a block."""
    blocks = [zip(*(row[name] for name in COLUMNS.values()), strict=True) for row in _held(points)]
    return float(max((sum(held) for each in blocks for held in each), default=0))


def _held(points: Sequence[Point]) -> list[Row]:
    return [row for point in points if (row := blocks_of(point, [*COLUMNS.values()]))]


def _courses(points: Sequence[Point], columns: Sequence[str]) -> dict[str, Row]:
    """Return series name -> blocks; nothing where the first point has no blocks."""
    courses = {p.series.name: row for p in points if (row := blocks_of(p, columns))}
    return courses if points[0].series.name in courses else {}


def _clock(courses: Mapping[str, Row], *, warmed: bool) -> TimeAxis:
    return TimeAxis.of(next(iter(courses.values())), warmed=warmed)


def _column(fate: Fate) -> str:
    return f"block_{fate.column}"


def _shares(row: Row, block: int, fates: Sequence[Fate]) -> dict[str, float]:
    """Return fate -> its share of a block's prompt tokens; nothing for a block without tokens."""
    whole = row["block_prompt_tokens"][block]
    return {fate.name: row[_column(fate)][block] / whole for fate in fates} if whole else {}

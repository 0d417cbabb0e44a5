"""Charts of where policies store states in prompts.

One chart shows the kinds of position. The others show distances from the start, the end and the
last branch point of the prompt: a small histogram per policy, one bar per doubling of distance,
as high as its share of the policy's states.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from reports.charts.over_time import follow, params
from reports.charts.rows import (
    ON_LINE,
    bands,
    beside_names,
    few_ticks,
    in_bands,
    row_names,
    stacked,
)
from reports.charts.theme import in_light, lit, rule, tips
from reports.results.positions.columns import COUNTS, KINDS, LABELS, OCTAVES
from reports.results.positions.histograms import ends
from simulator.base.units import format_count

if TYPE_CHECKING:
    from reports.results.points import Point, WorldPoints

KIND_COLOURS = {
    "at the end of the prompt": "#7b8fa6",
    "where prompts diverge": "#c9803c",
    "in the answer": "#5f9e8f",
    "elsewhere": "#b9bec5",
}
KIND_NAMES = dict(zip(KINDS, KIND_COLOURS, strict=True))
POINTS = {
    "start": "Tokens from the start",
    "end": "Tokens before and behind the end of the prompt",
    "branch": "Tokens before and behind the branch",
}
MOST_ROWS = 12
MOST_LABELS = 6
MOST_TICKS = 6
THICK = 24  # height in pixels of the highest bar


def kinds_stored(world: WorldPoints) -> alt.LayerChart | None:
    """Draw the shares of each policy's states by the kind of position where they are stored."""
    points = storing(world)[:MOST_ROWS]
    if not points:
        return None
    rows = [row for index, point in enumerate(points) for row in _kind_rows(index, point)]
    colours = {kind: KIND_COLOURS[kind] for kind in stored_kinds(points)}
    shown = {"kind": "states", "counts": "share"}
    return stacked(rows, "kind", colours, "Share of the states stored", 2, **shown)


def distances(world: WorldPoints, point: str, most: int = MOST_ROWS) -> alt.LayerChart | None:
    """Draw how far from a point of the prompt the first `most` policies store states."""
    points = [each for each in storing(world) if _states(each)][: min(most, MOST_ROWS)]
    rows = [
        row
        | {"row": index, "series": each.series.name, "label": each.series.label}
        | {"colour": world.looks[each.series.name].colour, "told": _rate(each)}
        for index, each in enumerate(points)
        for row in _bars(point, _summed(each, f"bins_from_{point}"))
    ]
    if not rows:
        return None
    layers = _drawn(alt.Chart, rows, point, "policy", opacity=in_light())
    return in_bands(len(points), *layers)


def distances_by_label(world: WorldPoints, points: Sequence[Point]) -> alt.LayerChart | None:
    """Draw the distances of states from the branch, for each label of the requests.

    The first of `points` is drawn until another is selected on the page.
    """
    all_rows = [
        row
        | {"series": point.series.name, "label": label, "told": note}
        | {"colour": world.looks[point.series.name].colour}
        for point in points
        for label, note, counted in _labels(point)
        for row in _bars("branch", counted)
    ]
    names = list(dict.fromkeys(row["label"] for row in all_rows))[:MOST_LABELS]
    rows = [row | {"row": names.index(row["label"])} for row in all_rows if row["label"] in names]
    if len(names) < 2:
        return None
    layers = _drawn(lambda frame: follow(alt.Chart(frame)), rows, "branch", "label")
    series = [*dict.fromkeys(row["series"] for row in rows)]
    return in_bands(len(names), *layers, params=[lit(), *params(series)[1:]])


def storing(world: WorldPoints) -> list[Point]:
    """Return the points whose cells have positions of states, those that store any first.

    The points are at the focus: the capacity that the answer is about.
    """
    points = [p for p in world.at(world.focus) if p.rows and all(_tells(row) for row in p.rows)]
    return sorted(points, key=lambda point: not _states(point))


def stored_kinds(points: Sequence[Point]) -> list[str]:
    """Return the kinds of position at which any of the points has stored a state."""
    return [
        name
        for kind, name in KIND_NAMES.items()
        if any(point.total(f"positions_{kind}") for point in points)
    ]


def _tells(row: Any) -> bool:
    return all(row.get(name) is not None for name in COUNTS)


def _states(point: Point) -> int:
    return sum(point.total(name) for name in COUNTS)


def _rate(point: Point) -> str:
    rate = _states(point) / max(point.total("requests_finished"), 1)
    return f"{rate:.2f} states a request"


def _kind_rows(index: int, point: Point) -> Iterator[dict[str, Any]]:
    states = _states(point)
    for rank, (kind, name) in enumerate(KIND_NAMES.items()):
        count = point.total(f"positions_{kind}")
        share = count / max(states, 1)
        yield {
            "row": index,
            "series": point.series.name,
            "label": point.series.label,
            "rank": rank,
            "kind": name,
            "share": share,
            "told": _rate(point),
            "counts": f"{100 * share:.1f} % ({format_count(count)} of {format_count(states)})",
        }


def _summed(point: Point, column: str) -> list[int]:
    """Return the histogram in a column, summed over the replications of a point."""
    lists = [row.get(column) or [] for row in point.rows]
    return [sum(values) for values in zip(*lists, strict=True)] if all(lists) else []


def _labels(point: Point) -> Iterator[tuple[str, str, list[int]]]:
    """Yield each label, its description and its distances from the branch.

    All are of the first replication.
    """
    row = point.rows[0] if point.rows else {}
    names, flat = row.get(LABELS) or [], row.get("bins_labels_from_branch") or []
    size = 2 * OCTAVES + 1
    for number, name in enumerate(names):
        counted = flat[number * size : (number + 1) * size]
        share = sum(counted) / max(sum(int(row.get(each) or 0) for each in COUNTS), 1)
        if sum(counted):
            yield name, f"{100 * share:.0f} % of the states", list(counted)


def _bars(point: str, counted: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield a bar for each octave that holds states."""
    total, first = sum(counted), 1 if point == "start" else -OCTAVES
    held = [(number, n) for number, n in enumerate(counted, start=first) if n]
    for place, (number, states) in enumerate(held):
        share = states / total
        yield {
            "first": place == 0,
            "octave": number,
            "thick": round(1.5 + (THICK - 1.5) * share, 1),
            "where": _where(point, number),
            "states": f"{100 * share:.1f} % ({format_count(states)} of {format_count(total)})",
        }


def _where(point: str, number: int) -> str:
    """Return an octave of distances in words: "512 to 1,023 tokens before"."""
    least, greatest = ends(abs(number))
    if number == 0:
        return "at it"
    span = f"{least:,} to {greatest:,} tokens" if abs(number) < OCTAVES else f"{least:,} or more"
    return span if point == "start" else f"{span} {'behind' if number > 0 else 'before'}"


def _drawn(
    chart: Callable[[pl.DataFrame], alt.Chart],
    rows: Sequence[dict[str, Any]],
    point: str,
    of: str,
    **look: Any,
) -> list[alt.Chart]:
    """Return the bars, as high as their shares, a line at distance 0, and the names of rows."""
    across = OctaveAxis.of(rows)
    base = chart(pl.DataFrame([across.placed(row) for row in rows])).encode(y=bands())
    bars = base.mark_bar(orient="horizontal", yOffset=ON_LINE).encode(
        x=across.channel(point),
        x2="to:Q",
        size=alt.Size("thick:Q", scale=None),
        color=alt.Color("colour:N", scale=None),
        tooltip=tips(label=of, where="where", states="states"),
        **look,
    )
    here = [] if point == "start" else rule(0.0, strokeDash=[1, 3])
    return [*here, bars, *row_names(base.transform_filter("datum.first"), "told:N")]


@dataclass(frozen=True, slots=True)
class OctaveAxis:
    """The horizontal axis of octaves of distance from a point of the prompt.

    It leaves out octaves near the point in which no state can be: on a grid of 64 tokens, none is
    at 1 to 63 tokens from it.

    Parameters
    ----------
    skipped
        How many octaves on each side are left out.
    first, last
        Positions of the outermost octaves on the axis.
    """

    skipped: int
    first: int
    last: int

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> OctaveAxis:
        """Return the axis that covers the octaves of all rows."""
        octaves = {row["octave"] for row in rows}
        skipped = min((abs(n) for n in octaves if n), default=1) - 1
        places = [_place(n, skipped) for n in octaves]
        return cls(skipped, min(places), max(places))

    def placed(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with the left and right ends of its bar added."""
        place = _place(row["octave"], self.skipped)
        return {**row, "from": place - 0.45, "to": place + 0.45}

    def channel(self, point: str) -> alt.X:
        """Return the horizontal channel: octaves of equal width, labelled with their nearer end."""
        places = range(self.first, self.last + 1)
        every = ceil(len(places) / MOST_TICKS)
        ticks = {n: _tick(point, _place(n, -self.skipped)) for n in places if n % every == 0}
        label = f"{json.dumps(ticks)}[datum.value]"
        axis = few_ticks(values=[*ticks], labelExpr=label, grid=False, tickSize=0)
        ends: Any = {"domain": [self.first - 0.5, self.last + 0.5], "range": beside_names()}
        scale = alt.Scale(nice=False, zero=False, **ends)
        return alt.X("from:Q", title=POINTS[point], axis=axis, scale=scale)


def _place(octave: int, skipped: int) -> int:
    """Return the position of an octave on the axis; with `-skipped`, the reverse."""
    return octave - skipped * ((octave > 0) - (octave < 0))


def _tick(point: str, number: int) -> str:
    least, _ = ends(abs(number))
    size = str(least)
    for letter, tokens in (("M", 2**20), ("k", 2**10)):
        if least >= tokens:
            size = f"{least // tokens}{letter}"
            break
    if point == "start" or number == 0:
        return size
    return f"+{size}" if number > 0 else f"\N{MINUS SIGN}{size}"

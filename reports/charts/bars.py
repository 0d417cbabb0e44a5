"""Charts with a row for each series: differences from the baseline and loss attribution.

A row has its name at the left and the mark on the same line; below the name stand its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from reports.charts.theme import IS_LIT, PALE, WIDTH, lit, second_unit
from reports.palette import FATES, GREY
from reports.statistics import CLAIMS
from simulator.base.units import format_count
from simulator.results.records import LOSSES

if TYPE_CHECKING:
    from reports.results.points import Point, WorldPoints
    from reports.statistics import Estimate

STEP = 40
ON_LINE = -8  # of the middle of a row: where its name and its mark stand
_NAMES = "clamp(0.4 * width, 175, 260)"  # pixels for the names of rows
MOST_DIFFERENCES = 12
MOST_MARKED = 2
DWARFED = 30  # times the usual difference: on a linear axis the others would look alike


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a prompt token: a short name and what it means."""

    key: str
    name: str
    meaning: str

    @property
    def column(self) -> str:
        """The column of a cell that counts the tokens."""
        return "saved_tokens" if self.key == "saved" else f"lost_{self.key}_tokens"


_MEANINGS = {
    "saved": ("saved", "resumed from a checkpoint: not computed again"),
    "never_seen": ("never seen", "no earlier prompt shared these tokens: no cache can save them"),
    "last_token": ("last token", "the last prompt token is always computed, for its logits"),
    "in_flight": ("in flight", "the prompt that shares them was still being prefilled"),
    "not_admitted": ("not admitted", "the admission policy did not let their KV in"),
    "kv_evicted": ("KV evicted", "their KV had been evicted"),
    "not_checkpointed": ("never checkpointed", "no state was ever stored deep enough"),
    "alignment": ("alignment", "a state was wanted there, but only coarser positions can be kept"),
    "state_evicted": ("state evicted", "a deeper checkpoint had existed and was evicted"),
    "not_served": ("not served", "the request was rejected or did not finish"),
}
FATES_IN_ORDER = tuple(
    Fate(key, *_MEANINGS.get(key, (key.replace("_", " "), ""))) for key in ("saved", *LOSSES)
)


def differences(
    world: WorldPoints, metric: Literal["token_hit_rate", "ttft_seconds"]
) -> alt.LayerChart | None:
    """Draw paired differences from the baseline at the focus, with intervals.

    Grey is what is neither better nor worse. Of many, those that lead.
    """
    pairs = leading(differences_at_focus(world, metric))
    if not pairs:
        return None
    unit, size, title = _unit(metric, [estimate.value for _, estimate in pairs])
    rows = [
        _difference_row(index, point, estimate, unit, size)
        for index, (point, estimate) in enumerate(pairs)
    ]
    rows = [row | {"colour": world.looks[row["series"]].colour} for row in rows]
    base = alt.Chart(pl.DataFrame(rows, infer_schema_length=None)).encode(y=bands())
    x = _across(rows, title)
    paint = alt.condition("!datum.told", alt.value(GREY), alt.Color("colour:N", scale=None))
    opacity = alt.condition(IS_LIT, alt.value(1.0), alt.value(PALE))
    tooltip = [alt.Tooltip("label:N", title="policy"), alt.Tooltip("text:N", title="difference")]
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=GREY).encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=3, yOffset=ON_LINE).encode(
        x=alt.X("low:Q", title=x["title"]), x2="high:Q", color=paint, opacity=opacity
    )
    points = base.mark_point(filled=True, size=90, yOffset=ON_LINE, opacity=1).encode(
        x=x, color=paint, opacity=opacity, tooltip=tooltip
    )
    return layered(len(rows), zero, bars, points, *row_names(base, "text:N"))


def _across(rows: Sequence[dict[str, Any]], title: str) -> alt.X:
    """Return the horizontal channel, symmetrically logarithmic where one difference dwarfs most."""
    sizes = sorted(abs(row["value"]) for row in rows if row["value"])
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    if len(sizes) < 3 or sizes[-1] < DWARFED * usual:
        linear = alt.Scale(range=beside_names())
        return alt.X("value:Q", title=title, axis=few_ticks(), scale=linear)
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    powers = [10.0**k for k in range(ceil(log10(usual)), ceil(log10(sizes[-1])) + 1)]
    ticks = [0.0, *powers, *(-power for power in powers)]
    axis = alt.Axis(
        values=sorted(tick for tick in ticks if low <= tick <= high),
        format=",~r",
        labelOverlap="greedy",
        domain=False,
        titleAnchor="end",
    )
    symlog = alt.Scale(type="symlog", constant=usual, range=beside_names())
    return alt.X("value:Q", title=f"{title} (symmetric log scale)", axis=axis, scale=symlog)


def losses(world: WorldPoints) -> alt.LayerChart | None:
    """Draw what became of the prompt tokens at the focus, as shares, in the chain's order."""
    points = [point for point in world.at(world.focus) if point.total("prompt_tokens")]
    rows = [row for index, point in enumerate(points) for row in _fate_rows(index, point)]
    if not rows:
        return None
    fates = occurring(points)
    colours = alt.Scale(
        domain=[fate.name for fate in fates],
        range=[FATES.get(fate.key, GREY) for fate in fates],
    )
    axis = few_ticks(format=".0%")
    base = alt.Chart(pl.DataFrame(rows)).encode(y=bands())
    ends = alt.Scale(domain=[0, 1], range=beside_names())
    bars = base.mark_bar(height=14, yOffset=ON_LINE).encode(
        x=alt.X("share:Q", title="Share of prompt tokens", axis=axis, scale=ends),
        color=alt.Color("fate:N", scale=colours, legend=alt.Legend(title=None, columns=5)),
        order="rank:Q",
        opacity=alt.condition(IS_LIT, alt.value(1.0), alt.value(PALE)),
        tooltip=[
            alt.Tooltip("label:N", title="policy"),
            alt.Tooltip("fate:N", title="tokens"),
            alt.Tooltip("meaning:N", title="meaning"),
            alt.Tooltip("tokens:N", title="share"),
        ],
    )
    named = base.transform_filter("datum.rank == 0")
    return layered(len(points), bars, *row_names(named, "told:N"))


def occurring(points: Sequence[Point]) -> list[Fate]:
    """Return what became of the prompt tokens of some points: only what some tokens met."""
    return [fate for fate in FATES_IN_ORDER if any(p.total(fate.column) for p in points)]


def explained(estimate: Estimate, size: float, unit: str) -> str:
    """Return a difference with its interval, if any: "+12.3 points [11.0, 13.4]"."""
    ends = [end / size for end in (estimate.low, estimate.high) if end is not None]
    digits = 1 if max(map(abs, [estimate.value / size, *ends])) >= 1 else 2
    value = f"{estimate.value / size:+.{digits}f} {unit}"
    interval = f" [{', '.join(f'{end:.{digits}f}' for end in ends)}]" if ends else ""
    return (value + interval).replace("-", "\N{MINUS SIGN}")


def verdict_word(estimate: Estimate) -> str:
    """Return " better", " tied" and so on; nothing where there is no interval."""
    return "" if estimate.verdict == "unknown" else f" {estimate.verdict}"


def leading(pairs: Sequence[tuple[Point, Estimate]]) -> list[tuple[Point, Estimate]]:
    """Return the first so many, few of which are bounds or look ahead: no one can run those."""
    if len(pairs) <= MOST_DIFFERENCES:
        return list(pairs)
    marked = [pair for pair in pairs if pair[0].series.marks][:MOST_MARKED]
    fair = [pair for pair in pairs if not pair[0].series.marks]
    kept = {p.series.name for p, _ in [*marked, *fair[: MOST_DIFFERENCES - len(marked)]]}
    return [pair for pair in pairs if pair[0].series.name in kept]


def differences_at_focus(world: WorldPoints, metric: str) -> list[tuple[Point, Estimate]]:
    """Return the points that have a difference, the best first."""
    name = "ttft_difference" if metric == "ttft_seconds" else "token_hit_rate_difference"
    points = [(point, getattr(point, name)) for point in world.at(world.focus)]
    pairs = [(point, estimate) for point, estimate in points if estimate is not None]
    sign = 1 if metric == "ttft_seconds" else -1
    return sorted(pairs, key=lambda pair: sign * pair[1].value)


def _unit(metric: str, values: Sequence[float]) -> tuple[str, float, str]:
    """Return the unit of a difference, its size and the title of the axis."""
    if metric == "token_hit_rate":
        return "pt", 0.01, "Percentage points; more is better"
    name, size = second_unit(values)
    return name, size, f"Mean TTFT ({name}); less is better"


def _difference_row(
    index: int, point: Point, estimate: Estimate, unit: str, size: float
) -> dict[str, Any]:
    low, high = estimate.ends
    return {
        "row": index,
        "series": point.series.name,
        "label": point.series.label,
        "value": estimate.value / size,
        "low": low / size,
        "high": high / size,
        "told": estimate.verdict in (*CLAIMS, "unknown"),
        "text": explained(estimate, size, unit) + verdict_word(estimate),
    }


def _fate_rows(index: int, point: Point) -> list[dict[str, Any]]:
    rows = []
    for rank, fate in enumerate(FATES_IN_ORDER):
        share = point.share(fate.column)
        counts = f"{format_count(point.total(fate.column))} of "
        rows.append(
            {
                "row": index,
                "series": point.series.name,
                "label": point.series.label,
                "rank": rank,
                "fate": fate.name,
                "meaning": fate.meaning,
                "share": share,
                "told": f"{100 * share:.1f} % saved",
                "tokens": f"{100 * share:.1f} %"
                + f" ({counts}{format_count(point.total('prompt_tokens'))})",
            }
        )
    return rows


def bands() -> alt.Y:
    """Return the vertical channel: one band a row, by number, since names may be long or equal."""
    return alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))


def few_ticks(**more: Any) -> alt.Axis:
    """Return the horizontal axis of rows, which has little room beside their names."""
    few = alt.ExprRef("width < 480 ? 3 : 5")
    shown: Any = {"domain": False, "labelOverlap": "greedy", "titleAnchor": "end"} | more
    return alt.Axis(tickCount=few, **shown)


def beside_names() -> list[alt.ExprRef]:
    """Return the ends of a horizontal scale that leaves room for the names of rows."""
    return [alt.ExprRef(f"{_NAMES} + 8"), alt.ExprRef("width")]


def row_names(base: alt.Chart, note: str) -> list[alt.Chart]:
    """Return the name of each row on the line of its mark, and below it what is told of it."""
    text: Any = {"align": "left", "limit": alt.ExprRef(_NAMES)}
    return [
        base.mark_text(dy=ON_LINE, **text).encode(x=alt.value(0), text="label:N"),
        base.mark_text(dy=ON_LINE + 16, fontSize=11, fillOpacity=0.75, **text).encode(
            x=alt.value(0), text=note
        ),
    ]


def layered(rows: int, *layers: alt.Chart) -> alt.LayerChart:
    """Return the layers as one chart of so many bands."""
    return alt.LayerChart(layer=list(layers), width=WIDTH, height=STEP * rows, params=[lit()])

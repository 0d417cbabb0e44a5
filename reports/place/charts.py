"""Charts of a plan: its savings as steps under the survival curve, and savings by budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from reports.charts.theme import along, layered, rule, tips, up
from reports.palette import GREY, ORANGE, VERMILLION

if TYPE_CHECKING:
    from reports.place.law_file import DepthLaw

MOST_POINTS = 1_000
MOST_STEPS = 1_000
MOST_TICKS = 12


def staircase(law: DepthLaw, positions: Sequence[int], length: int) -> alt.LayerChart:
    """Draw the share of requests that overlap x tokens or more, and the plan's steps under it.

    The area under the curve is the mean overlap; the area under the steps is what the plan saves.
    """
    survival = np.cumsum(law.weights[::-1])[::-1] / law.total
    x = alt.X(
        "depth:Q",
        title="Tokens from the start of the prompt",
        scale=alt.Scale(domain=[0, length], nice=False),
        axis=along(format=",~f"),
    )
    y = alt.Y("share:Q", title="Requests that overlap this far", axis=up(format="%"))
    curve = alt.Chart(_curve(law, survival, length)).encode(x=x, y=y)
    steps = alt.Chart(_steps(law, survival, positions)).encode(x=x, y=y)
    tooltip = tips(
        depth=("position", ",d"),
        share=("requests it serves or passes on", ".1%"),
        gain=("tokens a request that its step saves", ",.1f"),
    )
    step: Any = {"interpolate": "step-before"}
    return layered(
        curve.mark_area(color=GREY, opacity=0.22, **step),
        curve.mark_line(color=GREY, strokeWidth=1.5, **step),
        steps.mark_area(color=VERMILLION, opacity=0.3, **step),
        steps.mark_line(color=VERMILLION, strokeWidth=1.5, **step),
        steps.transform_filter("datum.gain !== null")
        .mark_point(color=VERMILLION, filled=True, opacity=1, size=46)
        .encode(tooltip=tooltip),
    )


def savings_curve(placement: dict[str, Any]) -> alt.LayerChart:
    """Draw saved tokens a request over the budget: the plan, the optimum, the mean overlap."""
    optimum = placement["optimum"]
    rows = [
        {"budget": budget, "saved": saved, "best": best}
        for budget, (saved, best) in enumerate(
            zip(placement["savings_by_budget"], optimum["savings_by_budget"], strict=True)
        )
    ]
    step = -(-len(rows) // MOST_POINTS)
    frame = pl.DataFrame(rows[::step] + rows[len(rows) - 1 :][: (len(rows) - 1) % step > 0])
    apart = -(-(len(rows) - 1) // MOST_TICKS) or 1
    ticks = list(range(0, len(rows), apart))  # whole numbers only
    x = alt.X("budget:Q", title="Checkpoints", axis=along(values=ticks, format=",d"))
    title, axis = "Saved tokens a request", up(format=",~f")
    base = alt.Chart(frame).encode(x=x)
    tooltip = tips(
        budget=("checkpoints", ",d"),
        saved=("saved tokens a request", ",.1f"),
        best=("at best", ",.1f"),
    )
    marked = base.mark_line(
        color=VERMILLION, strokeWidth=2, point={"color": VERMILLION, "size": 36}
    )
    return layered(
        base.mark_line(color=GREY, strokeDash=[6, 3], strokeWidth=2).encode(
            y=alt.Y("best:Q", title=title, axis=axis)
        ),
        marked.encode(y=alt.Y("saved:Q", title=title, axis=axis), tooltip=tooltip),
        *rule(placement["law"]["mean_overlap_tokens"], "y", "mean overlap: all there is"),
        *_elbow(placement["elbow"]),
    )


def _elbow(elbow: dict[str, Any] | None) -> list[alt.Chart]:
    if elbow is None:
        return []
    row = {"budget": [elbow["budget"]], "elbow": [elbow["expected_saved_tokens"]]}
    mark = alt.Chart(pl.DataFrame(row | {"note": ["elbow"]})).encode(x="budget:Q", y="elbow:Q")
    return [
        mark.mark_point(color=ORANGE, size=150, strokeWidth=2.5, opacity=1),
        mark.mark_text(align="left", dx=12, dy=12, fontSize=11).encode(text="note:N"),
    ]


def _curve(law: DepthLaw, survival: Any, length: int) -> pl.DataFrame:
    """Return the survival curve as rows, at most MOST_POINTS, each step drawn to its right end."""
    pixel = law.depths * MOST_POINTS // max(length, 1)
    last = np.flatnonzero(np.diff(pixel, append=MOST_POINTS + 1))
    depths, shares = law.depths[last].tolist(), survival[last].tolist()
    first = float(survival[0]) if len(survival) else 0.0
    deepest = depths[-1] if depths else 0
    return pl.DataFrame(
        {"depth": [0, *depths, deepest, length], "share": [first, *shares, 0.0, 0.0]},
        schema={"depth": pl.Int64, "share": pl.Float64},
    )


def _steps(law: DepthLaw, survival: Any, positions: Sequence[int]) -> pl.DataFrame:
    """Return the plan's steps as rows: right end (the checkpoint), height and area."""
    chosen = np.asarray(positions[:MOST_STEPS], np.int64)
    reached = np.append(survival, 0.0)[law.depths.searchsorted(chosen)]
    areas = np.diff(chosen, prepend=0) * reached
    first = [float(reached[0])] if len(chosen) else [0.0]
    end = [int(chosen[-1])] if len(chosen) else [0]
    return pl.DataFrame(
        {
            "depth": [0, *chosen.tolist(), *end],
            "share": [*first, *reached.tolist(), 0.0],
            "gain": [None, *areas.tolist(), None],
        },
        schema={"depth": pl.Int64, "share": pl.Float64, "gain": pl.Float64},
    )

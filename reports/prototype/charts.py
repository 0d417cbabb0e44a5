"""Charts of simulated against measured times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from calibration.prototype.errors import REGIMES, regime_of
from reports.charts.theme import HEIGHT, MUTED, WIDTH, second_unit
from reports.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun, Served

COLOURS = dict(zip(REGIMES, (GREY, VERMILLION, ORANGE, GREEN, BLUE), strict=True))
KINDS = {"simulated": PURPLE, "measured": GREY}
MOST_DRAWN = 2_000  # requests, each a row or two of data
BAND = 0.15  # the share within which half of the requests should lie


def prototype_charts(run: PrototypeRun) -> dict[str, alt.LayerChart]:
    """Return the charts of a page by their ids."""
    requests = run.requests[:: drawn_every(len(run.requests))]
    return {
        "agreement": agreement(requests),
        "errors": errors(requests),
        "waits": times(requests),
    }


def drawn_every(requests: int) -> int:
    """Return of how many requests one is drawn."""
    return -(-requests // MOST_DRAWN)


def agreement(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw simulated against measured service, a point a request, around the diagonal."""
    measured = [request.measured_seconds for request in requests]
    unit, size = second_unit(measured)
    frame = _frame(requests, size)
    both = [*frame["measured"], *frame["simulated"]]
    ends = [min(both), max(both)]
    scale = alt.Scale(type="log", nice=False, domain=[ends[0] / 1.1, ends[1] * 1.1])
    axis: Any = {"grid": False, "tickCount": 6, "format": "~r", "labelOverlap": "greedy"}
    x = alt.X("measured:Q", title=f"Measured, {unit}", scale=scale, axis=alt.Axis(**axis))
    y = alt.Y("simulated:Q", title=f"Simulated, {unit}", scale=scale, axis=alt.Axis(**axis))
    line = pl.DataFrame(
        {
            "measured": ends,
            "simulated": ends,
            "low": [end * (1 - BAND) for end in ends],
            "high": [end * (1 + BAND) for end in ends],
        }
    )
    same = alt.Chart(line).encode(x=x)
    layers = [
        same.mark_area(color=GREY, opacity=0.2, clip=True).encode(
            y=alt.Y("low:Q", title=f"Simulated, {unit}", scale=scale, axis=alt.Axis(**axis)),
            y2="high:Q",
        ),
        same.mark_line(color=MUTED, strokeDash=[4, 3]).encode(y=y),
        alt.Chart(frame)
        .mark_point(filled=True, size=42, opacity=0.75)
        .encode(x=x, y=y, color=_colour(), tooltip=_tooltip(unit)),
    ]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT)


def errors(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw the signed error of each request in the row of its regime, and each row's median."""
    unit, size = second_unit([request.measured_seconds for request in requests])
    frame = _frame(requests, size)
    present = [name for name in REGIMES if name in set(frame["regime"])]
    medians = frame.group_by("regime", maintain_order=True).agg(pl.col("error").median())
    x = alt.X(
        "error:Q",
        title="Simulated above measured",
        axis=alt.Axis(format="+.0%", grid=False, tickCount=6, labelOverlap="greedy"),
    )
    y = alt.Y("regime:N", title=None, sort=present, axis=alt.Axis(domain=False, ticks=False))
    zero = alt.Chart(pl.DataFrame({"error": [0.0]}))
    layers = [
        zero.mark_rule(color=MUTED, strokeDash=[4, 3]).encode(x=x),
        alt.Chart(frame)
        .mark_point(filled=True, size=42, opacity=0.5)
        .encode(x=x, y=y, color=_colour(), tooltip=_tooltip(unit)),
        alt.Chart(medians)
        .mark_tick(thickness=3, size=26, opacity=1)
        .encode(
            x=x,
            y=y,
            color=_colour(),
            tooltip=[alt.Tooltip("error:Q", title="median error", format="+.1%")],
        ),
    ]
    return alt.LayerChart(layer=layers, width=WIDTH, height=40 * len(present) + 40)


def times(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw simulated and measured times to first token over the arrivals, waits included."""
    both = {
        "simulated": [request.simulated_ttft_seconds for request in requests],
        "measured": [request.measured_ttft_seconds for request in requests],
    }
    unit, size = second_unit([*both["simulated"], *both["measured"]])
    rows = [
        {"kind": kind, "request": request.request, "ttft": seconds / size}
        for kind, column in both.items()
        for request, seconds in zip(requests, column, strict=True)
    ]
    axis = alt.Axis(format=",d", grid=False, tickCount=6, labelOverlap="greedy")
    up = alt.Axis(domain=False, ticks=False, tickCount=5, format=",~f")
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("request:Q", title="Request", axis=axis),
        y=alt.Y("ttft:Q", title=f"Time to first token, {unit}", axis=up),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            legend=alt.Legend(title=None),
        ),
        tooltip=[
            alt.Tooltip("request:Q", title="request", format=",d"),
            alt.Tooltip("kind:N", title=" "),
            alt.Tooltip("ttft:Q", title=f"time to first token, {unit}", format=",.4~g"),
        ],
    )
    layers = [base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=26, opacity=1)]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT)


def _frame(requests: Sequence[Served], size: float) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "request": request.request,
                "regime": regime_of(request),
                "measured": request.measured_seconds / size,
                "simulated": request.priced.service / size,
                "error": request.priced.service / request.measured_seconds - 1,
                "computed": request.computed_tokens,
                "saved": request.saved_tokens,
                "cuts": request.cuts,
            }
            for request in requests
        ]
    )


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("regime:N", scale=scale, legend=alt.Legend(title=None))


def _tooltip(unit: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("request:Q", title="request", format=",d"),
        alt.Tooltip("regime:N", title="regime"),
        alt.Tooltip("measured:Q", title=f"measured, {unit}", format=",.4~g"),
        alt.Tooltip("simulated:Q", title=f"simulated, {unit}", format=",.4~g"),
        alt.Tooltip("error:Q", title="error", format="+.1%"),
        alt.Tooltip("saved:Q", title="saved tokens", format=",d"),
        alt.Tooltip("computed:Q", title="computed tokens", format=",d"),
        alt.Tooltip("cuts:Q", title="cuts", format=",d"),
    ]

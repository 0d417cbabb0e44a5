"""Charts of simulated against measured times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from calibration.prototype.errors import REGIMES, regime_of
from reports.charts.theme import MUTED, along, layered, painted, rule, second_unit, tips, up
from reports.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun, Served

COLOURS = dict(zip(REGIMES, (GREY, VERMILLION, ORANGE, GREEN, BLUE), strict=True))
KINDS = {"simulated": PURPLE, "measured": GREY}
MOST_DRAWN = 2_000  # requests, each a row or two of data
BAND = 0.15  # the share within which half of the requests should lie


def prototype_charts(run: PrototypeRun) -> dict[str, alt.LayerChart]:
    """Return id -> chart of the page."""
    requests = run.requests[:: drawn_every(len(run.requests))]
    return {
        "agreement": agreement(requests),
        "errors": errors(requests),
        "waits": times(requests),
    }


def drawn_every(requests: int) -> int:
    """Return k where one of every k requests is drawn."""
    return -(-requests // MOST_DRAWN)


def agreement(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw simulated against measured service times, a point a request, with the diagonal."""
    measured = [request.measured_seconds for request in requests]
    unit, size = second_unit(measured)
    frame = _frame(requests, size)
    both = [*frame["measured"], *frame["simulated"]]
    ends = [min(both), max(both)]
    scale = alt.Scale(type="log", nice=False, domain=[ends[0] / 1.1, ends[1] * 1.1])
    axis = along(format="~r")
    x = alt.X("measured:Q", title=f"Measured, {unit}", scale=scale, axis=axis)
    y = alt.Y("simulated:Q", title=f"Simulated, {unit}", scale=scale, axis=axis)
    line = {"measured": ends, "simulated": ends}
    line |= {"low": [end * (1 - BAND) for end in ends], "high": [end * (1 + BAND) for end in ends]}
    same = alt.Chart(pl.DataFrame(line)).encode(x=x)
    lower = alt.Y("low:Q", title=y["title"], scale=scale, axis=axis)
    return layered(
        same.mark_area(color=GREY, opacity=0.2, clip=True).encode(y=lower, y2="high:Q"),
        same.mark_line(color=MUTED, strokeDash=[4, 3]).encode(y=y),
        _points(frame, unit, 0.75).encode(x=x, y=y),
    )


def errors(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw each request's signed error in a row for its kind (regime), and each row's median."""
    unit, size = second_unit([request.measured_seconds for request in requests])
    frame = _frame(requests, size)
    present = [name for name in REGIMES if name in set(frame["regime"])]
    medians = frame.group_by("regime", maintain_order=True).agg(pl.col("error").median())
    axis = along(format="+.0%")
    x = alt.X("error:Q", title="Simulated above measured", axis=axis)
    y = alt.Y("regime:N", title=None, sort=present, axis=alt.Axis(domain=False, ticks=False))
    median = alt.Chart(medians).mark_tick(thickness=3, size=26, opacity=1)
    tooltip = tips(error=("median error", "+.1%"))
    return layered(
        *rule(0.0, color=MUTED, strokeDash=[4, 3]),
        _points(frame, unit, 0.5).encode(x=x, y=y),
        median.encode(x=x, y=y, color=painted("regime", COLOURS), tooltip=tooltip),
        height=40 * len(present) + 40,
    )


def times(requests: Sequence[Served]) -> alt.LayerChart:
    """Draw simulated and measured times to first token, queueing included, over the arrivals."""
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
    title = f"Time to first token, {unit}"
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("request:Q", title="Request", axis=along(format=",d")),
        y=alt.Y("ttft:Q", title=title, axis=up(format=",~f")),
        color=painted("kind", KINDS),
        tooltip=tips(
            request=("request", ",d"), kind=" ", ttft=(f"time to first token, {unit}", ",.4~g")
        ),
    )
    return layered(
        base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=26, opacity=1)
    )


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


def _points(frame: pl.DataFrame, unit: str, opacity: float) -> alt.Chart:
    """Return a chart of a point a request, coloured by regime, with all its figures as tooltip."""
    points: alt.Chart = alt.Chart(frame).mark_point(filled=True, size=42, opacity=opacity)
    return points.encode(
        color=painted("regime", COLOURS),
        tooltip=tips(
            request=("request", ",d"),
            regime="regime",
            measured=(f"measured, {unit}", ",.4~g"),
            simulated=(f"simulated, {unit}", ",.4~g"),
            error=("error", "+.1%"),
            saved=("saved tokens", ",d"),
            computed=("computed tokens", ",d"),
            cuts=("cuts", ",d"),
        ),
    )

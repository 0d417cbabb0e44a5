"""Charts of two traces, each with a colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reports.charts.curves import Axis, Curve, curves
from reports.charts.theme import clock_unit
from reports.palette import BLUE, DASHES, SOLID, VERMILLION
from reports.trace.charts import (
    BURST_AXES,
    HELD_AXIS,
    LENGTH_AXES,
    OVERLAP_AXES,
    TURN_AXES,
    WAIT_AXES,
    burst_curve,
    distribution,
    survival_curve,
)
from reports.trace.comparison.sides import Float64, Side, Sides, seconds_of
from workloads.inspection.burstiness import burstiness
from workloads.inspection.conversations import conversations
from workloads.inspection.law import quantiles_of, survival
from workloads.inspection.reuse import lru_curve, reuse

if TYPE_CHECKING:
    import altair as alt

    from reports.trace.comparison.comparing import Comparison
    from workloads.inspection.law import Quantiles

LOOKS = {"A": (BLUE, SOLID), "B": (VERMILLION, DASHES[1])}
WINDOWS = 60


def comparison_charts(comparison: Comparison) -> dict[str, alt.LayerChart]:
    """Return name -> chart, without those that have nothing to show."""
    sides = comparison.sides
    traces = [side.trace for side in sides]
    talks = [conversations(trace) for trace in traces]
    turns = [None if talk is None else talk.turns for talk in talks]
    several = any(law is not None and law.max > 1 for law in turns)
    overlaps = [survival_curve(survival(side.overlap), side.same.granularity) for side in sides]
    charts = {
        "prompts": _laws([quantiles_of(trace.prompt_tokens) for trace in traces], LENGTH_AXES),
        "outputs": _laws([quantiles_of(trace.output_tokens) for trace in traces], LENGTH_AXES),
        "survival": _drawn(overlaps, OVERLAP_AXES, steps=True),
        "lru": _lru(sides),
        "waits": _waits(sides),
        "rate": _rate(sides),
        "dispersion": _drawn([_bursts(side) for side in sides], BURST_AXES),
        "turns": _laws(turns, TURN_AXES) if several else None,
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def _drawn(
    series: Sequence[Curve | None], axes: tuple[Axis, Axis], *, steps: bool = False
) -> alt.LayerChart | None:
    """Draw the curves of A and B, as far as there are any; None if there are none."""
    shown = {name: each for name, each in zip(LOOKS, series, strict=True) if each is not None}
    if not shown:
        return None
    colours = {name: colour for name, (colour, _) in LOOKS.items()}
    dashes = {name: dash for name, (_, dash) in LOOKS.items()}
    return curves(shown, colours, *axes, steps=steps, dashes=dashes)


def _laws(laws: Sequence[Quantiles | None], axes: tuple[Axis, Axis]) -> alt.LayerChart | None:
    known = [None if law is None or not law.max > 0 else distribution(law) for law in laws]
    return _drawn(known, axes)


def _lru(sides: Sides) -> alt.LayerChart | None:
    series: list[Curve | None] = []
    for side in sides:
        law, whole = lru_curve(side.same, side.used), int(side.same.prompt_tokens.sum())
        rates = [saved / whole for saved in law.saved_tokens]
        series.append((law.capacity_tokens, rates) if rates[-1] else None)
    top = max((max(each[1]) for each in series if each is not None), default=1.0)
    return _drawn(series, (HELD_AXIS, Axis("Token hit rate", ".0%", domain=(0, min(1, 1.1 * top)))))


def _waits(sides: Sides) -> alt.LayerChart | None:
    laws = [reuse(side.same, side.used) for side in sides]
    if all(law.seconds is not None and law.seconds.max > 0 for law in laws):
        return _laws([law.seconds for law in laws], (WAIT_AXES["seconds"], WAIT_AXES["up"]))
    return _laws([law.requests for law in laws], (WAIT_AXES["requests"], WAIT_AXES["up"]))


def _rate(sides: Sides) -> alt.LayerChart | None:
    if any(side.periods is None for side in sides):
        return None
    times = [seconds_of(side.trace) for side in sides]
    last = max(float(each[-1]) for each in times)
    name, size = clock_unit(last)
    axes = Axis(f"Time from the first arrival ({name})", ",~f"), Axis("Requests a second")
    return _drawn([_rates(each, last / WINDOWS, size) for each in times], axes, steps=True)


def _rates(times: Float64, window: float, unit: float) -> Curve:
    count = max(int(np.ceil(times[-1] / window)), 1)
    place = np.minimum((times / window).astype(np.int64), count - 1)
    rates = np.bincount(place, minlength=count) / window
    return (window * np.arange(count) / unit).tolist(), rates.tolist()


def _bursts(side: Side) -> Curve | None:
    times = side.trace.arrival_seconds
    return None if times is None else burst_curve(burstiness(times))

"""The charts of two traces, one colour each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reports.charts.curves import Axis, Curve, curves
from reports.charts.theme import clock_unit
from reports.palette import BLUE, DASHES, SOLID, VERMILLION
from reports.trace.charts import TOKENS
from reports.trace.comparison.sides import Float64, Side
from simulator.trace.trace import NO_SESSION
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
    """Return the charts by name; those that have nothing to show are left out."""
    sides = comparison.sides
    charts = {
        "prompts": _laws([quantiles_of(side.trace.prompt_tokens) for side in sides], "Tokens"),
        "outputs": _outputs(sides),
        "survival": _survival(sides),
        "lru": _lru(sides),
        "waits": _waits(sides),
        "rate": _rate(sides),
        "dispersion": _dispersion(sides),
        "turns": _turns(sides),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def _drawn(
    series: Sequence[Curve | None], x: Axis, y: Axis, *, steps: bool = False
) -> alt.LayerChart | None:
    """Draw what there is of A and B; None for nothing."""
    shown = {name: each for name, each in zip(LOOKS, series, strict=True) if each is not None}
    if not shown:
        return None
    colours = {name: colour for name, (colour, _) in LOOKS.items()}
    dashes = {name: dash for name, (_, dash) in LOOKS.items()}
    return curves(shown, colours, x, y, steps=steps, dashes=dashes)


def _laws(
    laws: Sequence[Quantiles | None], title: str, what: str = "Requests of at most this length"
) -> alt.LayerChart | None:
    shares = [percent / 100 for percent in range(101)]
    series = [None if law is None or not law.max > 0 else (law.percentiles, shares) for law in laws]
    y = Axis(what, ".0%", domain=(0.0, 1.0))
    return _drawn(series, Axis(title, TOKENS, log=True), y)


def _outputs(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    outputs = [side.trace.output_tokens for side in sides]
    return _laws([quantiles_of(each) if each.any() else None for each in outputs], "Tokens")


def _survival(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    laws = [survival(side.overlap) for side in sides]
    series = [
        ([min(side.same.granularity, law.points[0]), *law.points, law.points[-1]],
         [law.share[0], *law.share[:1], *law.share[1:], 0.0])
        if law.points
        else None
        for side, law in zip(sides, laws, strict=True)
    ]  # fmt: skip
    x = Axis("Overlap, tokens from the start", TOKENS, log=True)
    y = Axis("Requests that overlap this far", ".0%", domain=(0.0, 1.0))
    return _drawn(series, x, y, steps=True)


def _lru(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    laws = [lru_curve(side.same, side.used) for side in sides]
    wholes = [int(side.same.prompt_tokens.sum()) for side in sides]
    series = [
        (law.capacity_tokens, [saved / whole for saved in law.saved_tokens])
        if law.saved_tokens[-1]
        else None
        for law, whole in zip(laws, wholes, strict=True)
    ]
    x = Axis("KV held by the cache, tokens", TOKENS, log=True)
    top = max((max(each[1]) for each in series if each is not None), default=1.0)
    return _drawn(series, x, Axis("Token hit rate", ".0%", domain=(0.0, min(1.0, 1.1 * top))))


def _waits(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    laws = [reuse(side.same, side.used) for side in sides]
    what = "Tokens used again this soon"
    if all(law.seconds is not None and law.seconds.max > 0 for law in laws):
        return _laws([law.seconds for law in laws], "Seconds since the last use", what)
    return _laws([law.requests for law in laws], "Requests since the last use", what)


def _rate(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    times = [side.trace.arrival_seconds for side in sides if side.period_seconds is not None]
    timed = [each for each in times if each is not None]
    if len(timed) < 2:
        return None
    last = max(float(each[-1]) for each in timed)
    name, size = clock_unit(last)
    x = Axis(f"Time from the first arrival ({name})", ",~f")
    series = [_rates(each, last / WINDOWS, size) for each in timed]
    return _drawn(series, x, Axis("Requests a second"), steps=True)


def _rates(times: Float64, window: float, unit: float) -> Curve:
    count = max(int(np.ceil(times[-1] / window)), 1)
    place = np.minimum((times / window).astype(np.int64), count - 1)
    rates = np.bincount(place, minlength=count) / window
    return (window * np.arange(count) / unit).tolist(), rates.tolist()


def _dispersion(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    series: list[Curve | None] = []
    for side in sides:
        times = side.trace.arrival_seconds
        bursts = None if times is None else burstiness(times)
        windows = () if bursts is None else bursts.dispersion
        across = [each.window_seconds for each in windows]
        series.append((across, [each.index for each in windows]) if len(windows) > 1 else None)
    x = Axis("Length of the windows, seconds", log=True)
    return _drawn(series, x, Axis("Variance / mean of arrivals", log=True))


def _turns(sides: tuple[Side, Side]) -> alt.LayerChart | None:
    if not any((side.trace.session != NO_SESSION).any() for side in sides):
        return None
    talks = [conversations(side.trace) for side in sides]
    if not any(talk is not None and talk.turns.max > 1 for talk in talks):
        return None
    laws = [None if talk is None else talk.turns for talk in talks]
    return _laws(laws, "Turns", "Sessions of at most so many turns")

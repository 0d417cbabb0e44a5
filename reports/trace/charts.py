"""Charts of what a trace holds, as computed by `workloads.inspection`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reports.charts.curves import Axis, Curve, band, curve, curves, level
from reports.charts.theme import clock_unit
from reports.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from simulator.base.units import format_count

if TYPE_CHECKING:
    import altair as alt

    from reports.trace.memory import Memory
    from workloads.inspection import Inspection
    from workloads.inspection.burstiness import Burstiness
    from workloads.inspection.law import Quantiles, Survival

COORDINATES = {"start": BLUE, "end": VERMILLION, "branch": GREEN}
LENGTHS = {"prompts": BLUE, "outputs": ORANGE}
WORKING_SETS = (BLUE, GREEN, ORANGE, PURPLE)
TOKENS = ",.3~s"


def shares(title: str) -> Axis:
    """Return an axis of shares from 0 to 1."""
    return Axis(title, ".0%", domain=(0.0, 1.0))


# x and y axes of charts that show one trace or two
OVERLAP_AXES = (
    Axis("Overlap, tokens from the start", TOKENS, log=True),
    shares("Requests that overlap this far"),
)
LENGTH_AXES = Axis("Tokens", TOKENS, log=True), shares("Requests of at most this length")
WAIT_AXES = {
    "seconds": Axis("Seconds since the last use", log=True),
    "requests": Axis("Requests since the last use", TOKENS, log=True),
    "up": shares("Tokens used again this soon"),
}
HELD_AXIS = Axis("KV held by the cache, tokens", TOKENS, log=True)
BURST_AXES = (
    Axis("Length of the windows, seconds", log=True),
    Axis("Variance / mean of arrivals", log=True),
)
TURN_AXES = Axis("Turns", TOKENS, log=True), shares("Sessions of at most so many turns")


def survival_curve(law: Survival, granularity: int) -> Curve | None:
    """Return the share of requests that overlap x tokens or more; None without overlaps."""
    if not law.points:
        return None
    across = [min(granularity, law.points[0]), *law.points, law.points[-1]]
    return across, [*law.share, law.share[-1], 0.0]


def distribution(law: Quantiles) -> Curve:
    """Return the cumulative distribution function of the values whose percentiles are given."""
    return law.percentiles, [percent / 100 for percent in range(101)]


def burst_curve(arrivals: Burstiness | None) -> Curve | None:
    """Return variance / mean of arrivals over the window length; None if all are 0 or too few."""
    windows = () if arrivals is None else arrivals.dispersion
    if len(windows) < 2 or not any(each.index > 0 for each in windows):
        return None
    return [each.window_seconds for each in windows], [each.index for each in windows]


def trace_charts(inspection: Inspection) -> dict[str, alt.LayerChart]:
    """Return name -> chart, without those that have nothing to show."""
    charts = {
        "survival": _survival(inspection),
        "concentration": _concentration(inspection),
        "timeline": _timeline(inspection),
        "lru": _lru(inspection),
        "working_set": working_sets(inspection),
        "reuse": _reuse(inspection),
        "popularity": _popularity(inspection),
        "lengths": _lengths(inspection),
        "rate": _rate(inspection),
        "dispersion": _dispersion(inspection),
        "turns": _turns(inspection),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def working_set_colours(inspection: Inspection) -> dict[str, str]:
    """Return name of the window -> colour, for each working set."""
    unit = inspection.working_sets.unit
    names = [window_name(each.window, unit) for each in inspection.working_sets.sets]
    return dict(zip(names, (*WORKING_SETS[: len(names) - 1], GREY), strict=True))


def window_name(window: float | None, unit: str) -> str:
    """Return the name of a window that ends at the present moment, such as "last 5 min"."""
    return "since the beginning" if window is None else f"last {span_name(window, unit)}"


def span_name(window: float, unit: str) -> str:
    """Return the length of a window in words."""
    if unit == "requests":
        return f"{format_count(window)} requests"
    name, seconds = clock_unit(window / 3)
    return f"{window / seconds:g} {name}"


def _survival(inspection: Inspection) -> alt.LayerChart | None:
    law = survival_curve(inspection.overlap_survival, inspection.granularity)
    return None if law is None else curve("requests", law, *OVERLAP_AXES, steps=True)


def _concentration(inspection: Inspection) -> alt.LayerChart | None:
    law = inspection.coordinates.all
    if law is None:
        return None
    first = inspection.granularity.bit_length() - 1  # the width of a block; less is unknown
    series = {
        name: (law.widths_tokens[first:], getattr(law, name).concentration[first:])
        for name in COORDINATES
    }
    x = Axis("Width of the window, tokens", TOKENS, log=True)
    return curves(series, COORDINATES, x, shares("Overlaps that end in the best window"))


def _timeline(inspection: Inspection) -> alt.LayerChart | None:
    line = inspection.timeline
    shown = [at for at, tokens in enumerate(line.prompt_tokens) if tokens]
    if len(shown) < 2:
        return None
    across, x = _clock(inspection, [line.start[at] for at in shown])
    rates = [line.saved_tokens[at] / line.prompt_tokens[at] for at in shown]
    mean = level(inspection.ideal_token_hit_rate, "whole trace")
    y = shares("Token hit rate, unbounded cache")
    return curve("window", (across, rates), x, y, steps=True, below=mean)


def _lru(inspection: Inspection) -> alt.LayerChart | None:
    law, whole = inspection.lru, inspection.prompt_tokens
    if not inspection.ideal_saved_tokens:
        return None
    rates = [saved / whole for saved in law.saved_tokens]
    top = level(inspection.ideal_token_hit_rate, "unbounded")
    y = Axis("Token hit rate", ".0%", domain=(0.0, min(1.0, 1.1 * inspection.ideal_token_hit_rate)))
    return curve("LRU", (law.capacity_tokens, rates), HELD_AXIS, y, below=top)


def working_sets(inspection: Inspection, memory: Memory | None = None) -> alt.LayerChart | None:
    """Return the chart of working sets in tokens, or in GiB of a profile; None without moments."""
    sets = inspection.working_sets
    if len(sets.moments) < 2:
        return None
    across, x = _clock(inspection, sets.moments)
    series: dict[str, Curve] = {
        window_name(each.window, sets.unit): (
            across,
            each.tokens if memory is None else memory.gib(each),
        )
        for each in sets.sets
    }
    y = Axis("Distinct tokens used", TOKENS)
    y = y if memory is None else Axis("KV and states, GiB", ",~r")
    return curves(series, working_set_colours(inspection), x, y)


def _reuse(inspection: Inspection) -> alt.LayerChart | None:
    law, unit = inspection.reuse.seconds, "seconds"
    if law is None or not law.max > 0:
        law, unit = inspection.reuse.requests, "requests"
    if law is None:
        return None
    return curve("tokens", distribution(law), WAIT_AXES[unit], WAIT_AXES["up"])


def _popularity(inspection: Inspection) -> alt.LayerChart | None:
    law = inspection.popularity
    if len(law.ranks) < 2:
        return None
    series: dict[str, Curve] = {"uses": (law.ranks, law.uses)}
    colours = {"uses": BLUE}
    if law.zipf is not None:
        ranks = [rank for rank in law.ranks if rank <= law.zipf.blocks]
        fitted = [law.zipf.first_uses * rank**-law.zipf.exponent for rank in ranks]
        series["Zipf"], colours["Zipf"] = (ranks, fitted), VERMILLION
    x = Axis(f"Rank of the prefix, blocks of {law.block_tokens} tokens", TOKENS, log=True)
    return curves(series, colours, x, Axis("Prompts that contain it", TOKENS, log=True))


def _lengths(inspection: Inspection) -> alt.LayerChart:
    series = {"prompts": distribution(inspection.prompt_length)}
    if inspection.output_tokens:
        series["outputs"] = distribution(inspection.output_length)
    return curves(series, {name: LENGTHS[name] for name in series}, *LENGTH_AXES)


def _rate(inspection: Inspection) -> alt.LayerChart | None:
    line = inspection.timeline
    if inspection.arrivals is None or len(line.start) < 2:
        return None
    across, x = _clock(inspection, line.start)
    rates = [requests / line.window for requests in line.requests]
    mean = level(inspection.arrivals.requests_per_second, "mean")
    y = Axis("Requests a second", domain=(0.0, max(rates) * 1.05))
    return curve("requests", (across, rates), x, y, steps=True, below=mean)


def _dispersion(inspection: Inspection) -> alt.LayerChart | None:
    bursts = burst_curve(inspection.arrivals)
    if bursts is None or inspection.arrivals is None:
        return None
    windows = inspection.arrivals.dispersion
    low, high = [each.poisson_low for each in windows], [each.poisson_high for each in windows]
    poisson = band(bursts[0], low, high)
    return curve("trace", bursts, *BURST_AXES, below=[poisson])


def _turns(inspection: Inspection) -> alt.LayerChart | None:
    if inspection.conversations is None or inspection.conversations.turns.max < 2:
        return None
    return curve("sessions", distribution(inspection.conversations.turns), *TURN_AXES)


def time_unit(inspection: Inspection) -> tuple[str, float]:
    """Return name and size in seconds of the unit of time, the same in all charts."""
    if inspection.working_sets.unit == "requests":
        return "requests", 1.0
    return clock_unit(inspection.working_sets.moments[-1])


def _clock(inspection: Inspection, times: Sequence[float]) -> tuple[list[float], Axis]:
    """Return times in the unit that suits the trace, and the axis for them."""
    name, size = time_unit(inspection)
    title = f"Time from the first arrival ({name})"
    axis = Axis(title, ",~f", over_time=True)
    if name == "requests":
        axis = Axis("Requests from the beginning", TOKENS, over_time=True)
    return [time / size for time in times], axis

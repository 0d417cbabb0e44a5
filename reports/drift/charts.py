"""The charts of a drift study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import altair as alt
import numpy as np
import polars as pl

from reports.charts.curves import Axis, Curve, band, curve, curves, level
from reports.charts.over_time import span
from reports.charts.theme import HEIGHT, WIDTH, along, tips, up
from reports.drift.distances import Distance
from reports.drift.findings import DEFAULT_WINDOW, Finding, difference, kind, label, over_time
from reports.drift.planning import parameters
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

KINDS = {
    CLAIRVOYANT: GREY,
    "static": VERMILLION,
    "window": BLUE,
    "decay": GREEN,
    "change": PURPLE,
    "predicted": ORANGE,
}
STEPS = {"from the window before": BLUE, "from the first window": ORANGE}
BOUNDS = {"bound, total variation": SKY, "bound, Kolmogorov": ORANGE}
TOKENS = ",.3~s"
OVER = Axis("Request", TOKENS, over_time=True)
DEPTH_ROWS = 36
MISS_ROW = 0.7  # lower edge of the row of misses / shallowest depth


def drift_charts(
    study: DriftStudy, findings: Mapping[str, Finding]
) -> dict[str, alt.LayerChart | alt.Chart]:
    """Return name -> chart of a drift study, without those that have nothing to show."""
    charts = {
        "law": _law(study),
        "kolmogorov": _distance(study, "kolmogorov", "Kolmogorov distance"),
        "variation": _distance(study, "total_variation", "Total variation distance"),
        "savings": _savings(study, findings),
        "regret": _regret(study, findings),
        "windows": _windows(study, findings),
        "pace": _pace(study),
        "churn": _churn(study, findings),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def shown(study: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, str]:
    """Return placer -> colour for the best placer of each kind, which the charts over time show."""
    best: dict[str, str] = {CLAIRVOYANT: CLAIRVOYANT}
    for placer in study.placers:
        rival = best.get(kind(placer))
        if rival is None or findings[placer].saved_share.value > findings[rival].saved_share.value:
            best[kind(placer)] = placer
    return {best[each]: colour for each, colour in KINDS.items() if each in best}


def regret_colours(placer: str) -> dict[str, str]:
    """Return series -> colour for the chart of a placer's regret and its two bounds."""
    return {"regret": KINDS[kind(placer)], **BOUNDS}


def followed(study: DriftStudy, findings: Mapping[str, Finding]) -> str:
    """Return the placer whose regret is drawn: the best of those that keep updating their plan.

    Those that predict are left out: a bound has their colour, and their law is none of a sample.
    """
    learning = [p for p in shown(study, findings) if kind(p) in {"window", "decay", "change"}]
    rest = learning or [study.placers[0]]
    return max(rest, key=lambda placer: findings[placer].saved_share.value)


def _law(study: DriftStudy) -> alt.Chart:
    """Draw windows x depths; darkness is the share of the window's requests with that overlap."""
    windows, depths = study.windows, study.replications[0].overlaps.depths
    hits = depths[depths > 0]
    edges = np.geomspace(float(hits.min()), float(hits.max()) + 1, DEPTH_ROWS + 1)
    if len(hits) < len(depths):
        edges = np.concatenate(([edges[0] * MISS_ROW], edges))
    rows = []
    for window in range(windows.count):
        inside = windows.of(depths, window)
        counts = np.histogram(np.where(inside > 0, inside, edges[0]), edges)[0]
        start = windows.start(window)
        rows += [
            (start, start + windows.width, low, high, count / len(inside))
            for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False)
            if count
        ]
    frame = pl.DataFrame(rows, schema=["from", "to", "low", "high", "share"], orient="row")
    chart: alt.Chart = alt.Chart(frame, width=WIDTH, height=HEIGHT, params=[span()])
    chart = chart.mark_rect(color=BLUE, clip=True)
    depth = alt.Scale(type="log", nice=False, domain=[float(edges[0]), float(edges[-1])])
    strength = alt.Scale(type="sqrt", domain=[0, 0.5], range=[0, 1], clamp=True)
    lines = up(format=TOKENS, grid=False, tickCount=6)
    drawn: alt.Chart = chart.encode(
        x=alt.X("from:Q", title=OVER.title, scale=OVER.scale(), axis=along(format=TOKENS)),
        x2="to:Q",
        y=alt.Y("low:Q", title="Overlap, tokens from the start", scale=depth, axis=lines),
        y2="high:Q",
        opacity=alt.Opacity("share:Q", scale=strength, legend=None),
        tooltip=tips(
            **{"from": ("from request", ",d")},
            low=("depth from", ",.0f"),
            high=("to", ",.0f"),
            share=("of the window's requests", ".1%"),
        ),
    )
    return drawn


def _distance(study: DriftStudy, name: str, title: str) -> alt.LayerChart:
    lists = (study.distances.steps, study.distances.since_first)
    series: dict[str, Curve] = {
        line: (_starts(study, each), [getattr(step, name) for step in each])
        for line, each in zip(STEPS, lists, strict=True)
    }
    steps = study.distances.steps
    limits = [getattr(step, f"{name}_band") for step in steps]
    chance = band(_starts(study, steps), [0.0] * len(steps), limits)
    x, y = OVER, Axis(title, ".2f", domain=(0.0, 1.0))
    return curves(series, STEPS, x, y, below=[chance])


def _starts(study: DriftStudy, steps: Sequence[Distance]) -> list[float]:
    return [study.windows.start(step.window) for step in steps]


def _counted(study: DriftStudy) -> list[float]:
    return [float(study.windows.start(window)) for window in study.windows.counted]


def _by_placer(
    study: DriftStudy,
    findings: Mapping[str, Finding],
    heights: Callable[[str], Sequence[float]],
    y: Axis,
) -> alt.LayerChart:
    """Draw one line over time for each placer that is shown."""
    looks, across = shown(study, findings), _counted(study)
    series: dict[str, Curve] = {label(placer): (across, heights(placer)) for placer in looks}
    colours = {label(placer): colour for placer, colour in looks.items()}
    return curves(series, colours, OVER, y)


def _savings(study: DriftStudy, findings: Mapping[str, Finding]) -> alt.LayerChart:
    y = Axis("Saved of the overlap", ".0%")
    return _by_placer(study, findings, lambda placer: over_time(study, placer).tolist(), y)


def _regret(study: DriftStudy, findings: Mapping[str, Finding]) -> alt.LayerChart | None:
    placer = followed(study, findings)
    colours = regret_colours(placer)
    courses = [each.courses[placer] for each in study.replications]
    names = ("regret_tokens", "variation_bound_tokens", "kolmogorov_bound_tokens")
    series: dict[str, Curve] = {
        line: (_counted(study), np.mean([getattr(c, name) for c in courses], axis=0).tolist())
        for line, name in zip(colours, names, strict=True)
    }
    if not any(height > 0 for _, heights in series.values() for height in heights):
        return None  # a logarithmic axis cannot show a regret of 0
    mean = float(np.mean([each.mean_overlap_tokens for each in study.replications]))
    y = Axis("Tokens a request", TOKENS, log=True)
    overlap = level(mean, "mean overlap")
    return curves(series, colours, OVER, y, below=overlap)


def _windows(study: DriftStudy, findings: Mapping[str, Finding]) -> alt.LayerChart | None:
    """Draw the tokens saved for each window length, with the interval of the loss to the best."""
    learned = {
        int(parameters(placer).get("window", DEFAULT_WINDOW)): findings[placer]
        for placer in study.placers
        if kind(placer) == "window"
    }
    if len(learned) < 2:
        return None
    lengths = sorted(learned)
    across = [float(length) for length in lengths]
    saved = [learned[each].saved_share.value for each in lengths]
    kept = next((findings[p] for p in study.placers if kind(p) == "static"), None)
    below = level(findings[CLAIRVOYANT].saved_share.value, "clairvoyant")
    if kept is not None:
        below += level(kept.saved_share.value, label(kept.placer))
    x = Axis("Requests in the window", TOKENS, log=True)
    return curve("window", (across, saved), x, Axis("Saved of the overlap", ".0%"), below=below)


def _pace(study: DriftStudy) -> alt.LayerChart | None:
    paces = [*study.paced]
    if len(paces) < 2:
        return None
    lost = [difference(study, study.paced[paces[0]], study.paced[every]) for every in paces]
    across = [float(every) for every in paces]
    low, high = ([100 * each.ends[side] for each in lost] for side in (0, 1))
    x = Axis("Requests between two plans", TOKENS, log=True)
    y = Axis(f"Less than every {paces[0]}, points")
    means = [100 * each.value for each in lost]
    return curve("lost", (across, means), x, y, below=[band(across, low, high)])


def _churn(study: DriftStudy, findings: Mapping[str, Finding]) -> alt.LayerChart:
    def rewritten(placer: str) -> list[float]:
        each = [r.courses[placer].rewritten for r in study.replications]
        so_far: list[float] = np.mean(each, axis=0).cumsum().tolist()
        return so_far

    return _by_placer(study, findings, rewritten, Axis("Positions rewritten so far", TOKENS))

"""The charts of a comparison: what B is less A, each figure with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from reports.charts.intervals import IntervalRow, intervals
from reports.charts.theme import CONFIG, second_unit
from reports.compare.outcome import Compared, TwoRuns
from reports.compare.shown import place_words
from reports.page.document import typeset
from reports.page.panel import Panel
from reports.palette import BETTER, GREY, WORSE
from reports.results.points import MOST_SERIES

WORDS = {
    "token_hit_rate": "token hit rate",
    "mean_ttft": "mean TTFT",
    "p50_ttft": "median TTFT",
    "p90_ttft": "P90 TTFT",
    "p99_ttft": "P99 TTFT",
    "finished_share": "finished share of the requests",
}
_COLOURS: dict[str, str] = {"better": BETTER, "worse": WORSE}
_NEITHER = "tied, unsure, equal or without an interval"


def words_of(name: str) -> str:
    """Return a measure in words; every percentile has the same."""
    return WORDS.get(name) or f"{name.removesuffix('_ttft').upper()} TTFT"


def comparison_charts(runs: TwoRuns) -> dict[str, alt.LayerChart]:
    """Return the charts by the ids of their panels; a figure without a difference is left out."""
    charts = {}
    for panel, group in _groups(runs):
        unit, size = _unit(group)
        rows = [_row(each, unit, size, runs.kind) for each in group]
        chart = intervals(rows, f"B less A ({unit})", zero=0.0)
        chart.title = f"{_title(group, runs.kind)}, B less A"  # of an image, which stands alone
        chart.config = alt.Config(**CONFIG)
        charts[panel] = chart
    return charts


def panels(runs: TwoRuns) -> list[Panel]:
    """Return what stands around each chart."""
    how = "Paired, request by request" if runs.paired else "Two samples that share nothing"
    if runs.kind == "sweep" and runs.paired:
        how = "Paired, replication by replication or block by block"
    caption = f"{how}. Bars: 95 % intervals."
    return [
        Panel(panel, _title(group, runs.kind), caption + _left_out(runs, group), _swatches(group))
        for panel, group in _groups(runs)
    ]


def _swatches(group: Sequence[Compared]) -> tuple[tuple[str, str], ...]:
    """Return the name and the colour of what occurs among the figures of a chart."""
    names = {each.verdict if each.verdict in _COLOURS else _NEITHER for each in group}
    known = {**_COLOURS, _NEITHER: GREY}
    return tuple((name, colour) for name, colour in known.items() if name in names)


def _groups(runs: TwoRuns) -> list[tuple[str, list[Compared]]]:
    """Return the figures of each chart: of runs those of one unit, of sweeps those of one kind.

    Where all are equal there is nothing to draw.
    """
    known = [each for each in runs.comparisons if each.difference is not None]
    groups: dict[str, list[Compared]] = {}
    for each in known:
        name = each.measure.unit if runs.kind == "run" else each.measure.name
        groups.setdefault(f"compare-{name.replace('_', '-').replace('.', '-')}", []).append(each)
    return [
        (name, _most_telling(group))
        for name, group in groups.items()
        if any(each.verdict != "equal" for each in group)
    ]


def _most_telling(group: Sequence[Compared]) -> list[Compared]:
    """Return as many as a chart has room for, claims before ties, in their order."""
    claims = [each.verdict in _COLOURS for each in group]
    order = sorted(range(len(group)), key=lambda index: not claims[index])
    return [group[index] for index in sorted(order[:MOST_SERIES])]


def _left_out(runs: TwoRuns, group: Sequence[Compared]) -> str:
    if runs.kind == "run":
        return ""
    same = [each for each in runs.comparisons if each.measure == group[0].measure]
    more = sum(each.difference is not None for each in same) - len(group)
    return f" {more} more are in the table." if more else ""


def _title(group: Sequence[Compared], kind: str) -> str:
    if kind == "run":
        return "Shares" if group[0].measure.unit == "share" else "Times to first token"
    words = words_of(group[0].measure.name)
    return words[:1].upper() + words[1:]


def _unit(group: Sequence[Compared]) -> tuple[str, float]:
    if group[0].measure.unit == "share":
        return "points", 0.01
    ends = [end for each in group for end in _ends(each)]
    return second_unit(ends)


def _ends(compared: Compared) -> tuple[float, float, float]:
    """Return value, low and high; the ends are the value where there is no interval."""
    difference = compared.difference
    if difference is None:
        return 0.0, 0.0, 0.0
    low = difference.value if difference.low is None else difference.low
    return difference.value, low, difference.value if difference.high is None else difference.high


def _row(compared: Compared, unit: str, size: float, kind: str) -> IntervalRow:
    name = words_of(compared.measure.name) if kind == "run" else place_words(compared.place)
    value, low, high = (end / size for end in _ends(compared))
    verdict = compared.verdict
    sure = " (no interval)" if verdict == "unknown" else f", {verdict}"
    text = typeset(compared.measure.shown_difference(compared.change)) + sure
    return IntervalRow(name, name, value, low, high, text, _COLOURS.get(verdict, GREY))

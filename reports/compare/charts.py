"""The charts of a comparison: what B is less A, each figure with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from reports.charts.intervals import IntervalRow, intervals
from reports.charts.theme import second_unit
from reports.compare.outcome import Compared, TwoRuns
from reports.compare.shown import place_words
from reports.palette import BETTER, GREY, WORSE
from reports.report.html import typeset
from reports.results.points import MOST_SERIES
from reports.words import capital

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


@dataclass(frozen=True, slots=True)
class ChartGroup:
    """The figures of one chart."""

    # of the chart
    id: str
    title: str
    # as many figures as a chart has room for, those that are better or worse first
    compared: tuple[Compared, ...]
    left_out: int = 0  # how many there are besides

    @property
    def swatches(self) -> tuple[tuple[str, str], ...]:
        """The name and the colour of what occurs among the figures."""
        verdicts = (each.verdict for each in self.compared)
        names = {verdict if verdict in _COLOURS else _NEITHER for verdict in verdicts}
        known = {**_COLOURS, _NEITHER: GREY}
        return tuple((name, colour) for name, colour in known.items() if name in names)


def chart_groups(runs: TwoRuns) -> list[ChartGroup]:
    """Return the figures of each chart: of runs those of one unit, of sweeps those of one kind.

    Where all are equal there is nothing to draw.
    """
    groups: dict[str, list[Compared]] = {}
    for each in runs.comparisons:
        if each.difference is not None:
            name = each.measure.unit if runs.kind == "run" else each.measure.name
            groups.setdefault(name, []).append(each)
    return [
        _group(name, group, runs.kind)
        for name, group in groups.items()
        if any(each.verdict != "equal" for each in group)
    ]


def _group(name: str, group: Sequence[Compared], kind: str) -> ChartGroup:
    words = words_of(group[0].measure.name)
    title = capital(words)
    if kind == "run":
        title = "Shares" if group[0].measure.unit == "share" else "Times to first token"
    shown = _most_telling(group)
    id = f"compare-{name.replace('_', '-').replace('.', '-')}"
    return ChartGroup(id, title, tuple(shown), 0 if kind == "run" else len(group) - len(shown))


def comparison_chart(runs: TwoRuns, group: ChartGroup) -> alt.LayerChart:
    """Draw the figures of a group: what B is less A, each with its interval."""
    unit, size = _unit(group.compared)
    rows = [_row(each, unit, size, runs.kind) for each in group.compared]
    return intervals(rows, f"B less A ({unit})", zero=0.0)


def _most_telling(group: Sequence[Compared]) -> list[Compared]:
    """Return as many as a chart has room for, claims before ties, in their order."""
    claims = [each.verdict in _COLOURS for each in group]
    order = sorted(range(len(group)), key=lambda index: not claims[index])
    return [group[index] for index in sorted(order[:MOST_SERIES])]


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

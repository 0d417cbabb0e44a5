"""Charts of a comparison: B minus A with its interval, for each figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from reports.charts.rows import IntervalRow, intervals
from reports.charts.theme import second_unit
from reports.compare.outcome import Compared, TwoRuns
from reports.compare.shown import place_words
from reports.palette import BETTER, GREY, WORSE
from reports.report.html import typeset
from reports.results.points import MOST_SERIES
from reports.statistics import Estimate
from reports.words import capital

_COLOURS: dict[str, str] = {"better": BETTER, "worse": WORSE}
_NEITHER = "tied, unsure, equal or without an interval"


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
    title = capital(group[0].measure.words)
    if kind == "run":
        title = "Shares" if group[0].measure.unit == "share" else "Times to first token"
    shown = _most_telling(group)
    id = f"compare-{name.replace('_', '-').replace('.', '-')}"
    return ChartGroup(id, title, tuple(shown), 0 if kind == "run" else len(group) - len(shown))


def comparison_chart(runs: TwoRuns, group: ChartGroup) -> alt.LayerChart:
    """Draw the differences B - A of a group of figures, each with its interval."""
    unit, size = _unit(group.compared)
    rows = [_row(each, size, runs.kind) for each in group.compared]
    return intervals(rows, f"B less A ({unit})", zero=0.0)


def _most_telling(group: Sequence[Compared]) -> list[Compared]:
    """Return the figures that fit into a chart: significant differences first, then ties."""
    claims = [each.verdict in _COLOURS for each in group]
    order = sorted(range(len(group)), key=lambda index: not claims[index])
    return [group[index] for index in sorted(order[:MOST_SERIES])]


def _unit(group: Sequence[Compared]) -> tuple[str, float]:
    if group[0].measure.unit == "share":
        return "points", 0.01
    gaps = [each.difference or Estimate(0.0) for each in group]
    return second_unit([end for gap in gaps for end in (gap.value, *gap.ends)])


def _row(compared: Compared, size: float, kind: str) -> IntervalRow:
    name = compared.measure.words if kind == "run" else place_words(compared.place)
    gap = compared.difference or Estimate(0.0)
    verdict = compared.verdict
    sure = " (no interval)" if verdict == "unknown" else f", {verdict}"
    text = typeset(compared.measure.shown_difference(compared.change)) + sure
    colour = _COLOURS.get(verdict, GREY)
    return IntervalRow.of((name, name), (gap.value, gap.low, gap.high), size, text, colour)

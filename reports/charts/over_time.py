"""What charts over time share: blocks of requests, the range that a page sets, whom they follow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from reports.charts.theme import LIT, clock_unit, lit

if TYPE_CHECKING:
    from reports.results.evidence import Row
    from reports.results.points import Point

SPAN = "span"
FOLLOWED = "followed"
_ARRIVALS = "block_arrival_seconds"


@dataclass(frozen=True, slots=True)
class Clock:
    """The horizontal axis of blocks: arrival times in a unit, or their numbers without any."""

    title: str
    unit: str
    unit_seconds: float | None

    @classmethod
    def of(cls, row: Row) -> Clock:
        """Return the axis that suits the blocks of a cell."""
        span = float(row[_ARRIVALS][-1]) - float(row[_ARRIVALS][0])
        if span <= 0:
            return cls("Block of consecutive requests", "blocks", None)
        unit, size = clock_unit(span)
        return cls(f"Simulated time ({unit})", unit, size)

    def times(self, row: Row) -> list[float]:
        """Return the place of each block: where its first request arrives."""
        if self.unit_seconds is None:
            return [float(block) for block in range(len(row[_ARRIVALS]))]
        return [float(arrival) / self.unit_seconds for arrival in row[_ARRIVALS]]

    def axis(self) -> alt.X:
        """Return the horizontal channel for the field `time`."""
        tight = alt.Scale(nice=False, zero=False, domainRaw=alt.ExprRef(SPAN))
        return alt.X(
            "time:Q", title=self.title, scale=tight, axis=alt.Axis(grid=False, tickCount=6)
        )


def blocks_of(point: Point, columns: Sequence[str]) -> Row | None:
    """Return the first replication where it has at least two blocks with all of the columns."""
    row = point.rows[0] if point.rows else None
    if row is None:
        return None
    values = [row.get(name) or [] for name in (_ARRIVALS, *columns)]
    whole = len({len(column) for column in values}) == 1 and len(values[0]) > 1
    return row if whole and all(v is not None for column in values for v in column) else None


def span() -> alt.VariableParameter:
    """Return the parameter that holds the two ends of the time that is shown; null for all."""
    return alt.VariableParameter(name=SPAN, value=None)


def params(names: Sequence[str]) -> list[alt.VariableParameter]:
    """Return what a page sets in a chart over time: the policy in the light, and the range.

    A third one follows the light: the series in it, or the first of `names` where it is on none.
    """
    known = f"indexof({json.dumps(list(names))}, {LIT}) >= 0"
    followed = f"{known} ? {LIT} : {json.dumps(names[0])}"
    return [
        lit(),
        span(),
        alt.VariableParameter(name=FOLLOWED, expr=followed),
    ]


def follow(chart: alt.Chart) -> alt.Chart:
    """Return the chart with the rows of the series that is followed."""
    filtered: alt.Chart = chart.transform_filter(f"datum.series == {FOLLOWED}")
    return filtered


def rounded(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the values with four digits, more than the height of a chart can show."""
    return {name: float(f"{value:.4g}") for name, value in values.items()}

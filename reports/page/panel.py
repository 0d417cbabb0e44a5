"""A chart as a page shows it: title, caption, swatches, what screen readers are told, the range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports.page.document import bare


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its id, title, caption, and the name and colour of what it draws.

    What is drawn as a line may have a third part: its dash, as SVG has it.
    """

    id: str
    title: str
    caption: str
    swatches: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Range:
    """The time that the charts over time show: its ends, the least step, the unit."""

    least: float
    most: float
    unit: str

    @property
    def step(self) -> float:
        """A hundredth of the whole."""
        return (self.most - self.least) / 100


def described(charts: Mapping[str, Any], panels: Iterable[Panel]) -> dict[str, Any]:
    """Return the specifications of charts by id, each with its caption for screen readers."""
    captions = {panel.id: panel.caption for panel in panels}
    return {id: bare(chart) | {"description": captions[id]} for id, chart in charts.items()}

"""A chart as a page shows it: title, caption, swatches, and what screen readers are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports.page.document import bare


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its id, title, caption, and (name, colour) of what it draws."""

    id: str
    title: str
    caption: str
    swatches: tuple[tuple[str, str], ...] = ()


def described(charts: Mapping[str, Any], panels: Iterable[Panel]) -> dict[str, Any]:
    """Return the specifications of charts by id, each with its caption for screen readers."""
    captions = {panel.id: panel.caption for panel in panels}
    return {id: bare(chart) | {"description": captions[id]} for id, chart in charts.items()}

"""Helpers that make pages and charts of a study from its cells and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from reports.pages.study import study_report
from reports.pages.study.caveats import study_caveats
from reports.pages.study.world import MOST_FOLLOWED, world_section
from reports.report.html import render
from reports.results.points import MOST_SERIES, WorldPoints


def render_study(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> str:
    return render(study_report(cells, manifest))


def study_charts(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the charts of a study, by the name of the image."""
    panels = study_report(cells, manifest).panels
    return {panel.image: panel.chart for panel in panels if panel.image}


def world_charts(world: WorldPoints, followed: int = MOST_SERIES) -> dict[str, Any]:
    """Return the charts of one world (workload, profile and server) by name.

    Losses and bytes over time are drawn for `followed` series.
    """
    section = world_section(0, world, MOST_FOLLOWED // followed)
    return {panel.image: panel.chart for panel in section.panels}


def caveats_of(worlds: list[WorldPoints], manifest: Mapping[str, Any]) -> list[str]:
    return list(study_caveats(worlds, manifest))

"""The page of a study: one HTML file that opens anywhere, without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reports.page.across import across_section
from reports.page.care import read_with_care
from reports.page.document import render
from reports.page.sections import Section, section
from reports.results.comparison import compare

if TYPE_CHECKING:
    import polars as pl

MOST_WORLDS = 12


def render_page(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> str:
    """Return the page of a study as HTML; the same input gives the same bytes.

    Parameters
    ----------
    cells
        One row a cell, as a sweep stores them.
    manifest
        What a sweep stores beside them.

    Raises
    ------
    ValueError
        When a chart does not fit its data.
    """
    worlds = compare(cells, manifest)
    shown = worlds[:MOST_WORLDS]
    sections = [section(number, world, len(shown)) for number, world in enumerate(shown)]
    across = across_section(worlds)
    return render(
        "page.html",
        _specifications(sections) | (across.specifications if across else {}),
        brand="Milepost study",
        title=str(manifest.get("title") or "Milepost study"),
        version=manifest["milepost_version"],
        sections=sections,
        across=across,
        left_out=len(worlds) - len(sections),
        care=read_with_care(worlds, manifest),
        command=manifest["command"],
        json_text=json.dumps(dict(manifest), indent=2, ensure_ascii=False),
        json_title="Manifest",
    )


def _specifications(sections: list[Section]) -> dict[str, Any]:
    return {panel.id: panel.specification for part in sections for panel in part.panels.values()}

"""The report of a study: a section for each world, and one that compares all worlds.

A world is the workload, profile and server that the compared policies share.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.artifacts.writing import read_artifacts
from reports.cross_workload.overview import overview_of
from reports.cross_workload.stored import FILE as DIFFERENCES
from reports.cross_workload.stored import as_json as differences_document
from reports.pages.study.caveats import study_caveats
from reports.pages.study.together import together
from reports.pages.study.world import world_section
from reports.report import Report, Section, plain
from reports.results.comparison import compare

if TYPE_CHECKING:
    import polars as pl

MOST_WORLDS = 12
MOST_ANSWERS = 6  # most answers among the sentences of `differences.json`


def study_report(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> Report:
    """Return the report of a study.

    Parameters
    ----------
    cells
        One row per cell (one simulation), as a sweep stores them.
    manifest
        The settings and facts that a sweep stores beside the cells.
    """
    worlds = compare(cells, manifest)
    shown, overview = worlds[:MOST_WORLDS], overview_of(worlds)
    sections = [world_section(number, world, len(shown)) for number, world in enumerate(shown)]
    left_out = len(worlds) - len(shown)
    answers = [plain(section.answer) for section in sections]
    return Report(
        kind="study",
        title=str(manifest.get("title") or "Milepost study"),
        sections=_in_order(sections, together(worlds, overview)),
        remark=f"{left_out} more combinations are in cells.parquet and not on this page."
        if left_out
        else "",
        caveats=tuple(study_caveats(worlds, manifest)),
        command=manifest["command"],
        data=manifest,
        data_title="Manifest",
        files={DIFFERENCES: differences_document(worlds, overview, answers[:MOST_ANSWERS])},
        milepost_version=manifest["milepost_version"],
    )


def _in_order(sections: list[Section], together: Section | None) -> tuple[Section, ...]:
    """Return the sections in page order: the one on all worlds is first if there are several."""
    if not sections:
        return (Section(answer="No answer: the study has no cells."),)
    whole = [] if together is None else [together]
    return (*whole, *sections) if len(sections) > 1 else (*sections, *whole)


def kept_report(folder: Path) -> Report:
    """Return the report of a finished sweep.

    Raises
    ------
    UsageError
        When the folder holds no finished sweep.
    DataError
        When a file is damaged or was written by a newer version.
    """
    return study_report(*read_artifacts(folder))


def conclusions(report: Report) -> list[str]:
    """Return the conclusions of a study as sentences: the answer of each world, then of all.

    A world is the workload, profile and server that the compared policies share.
    """
    return list(report.files[DIFFERENCES]["sentences"])

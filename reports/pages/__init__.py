"""Page types: one file each, which builds a `Report`; and which of them a folder of results has.

A page type whose results can be kept adds its data file and what reads it to `KEPT`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from reports.report import Report

KEPT: dict[str, str | Callable[[Path], Report]] = {  # data file -> "module:function", or a function
    "capacity.json": "reports.pages.capacity:kept_report",
    "compare.json": "reports.pages.comparison:kept_report",
    "series.json": "reports.pages.drift:kept_report",
    "drift.json": "reports.pages.drift:kept_report",
    "manifest.json": "reports.pages.study:kept_report",
}


def report_of(folder: Path) -> Report:
    """Return the report of the results that a folder keeps; a study's where nothing is known of it.

    Raises
    ------
    UsageError
        When the folder holds no results.
    DataError
        When they are damaged or were written by a newer version.
    """
    known = next((KEPT[name] for name in KEPT if (folder / name).is_file()), KEPT["manifest.json"])
    if isinstance(known, str):
        module, _, function = known.partition(":")
        known = getattr(import_module(module), function)
    report: Report = known(folder)
    return report

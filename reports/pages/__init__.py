"""Page types, one file each, and the choice of page type for a folder of stored results.

A page type builds a `Report`. If its results can be stored in a folder, `KEPT` maps the name of
their data file to the function that rebuilds the report from the folder.
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
    """Return the report of the results stored in a folder.

    A folder without a data file that `KEPT` lists is read as the results of a study.

    Raises
    ------
    UsageError
        When the folder holds no results.
    DataError
        When the results are damaged or were written by a newer version.
    """
    known = next((KEPT[name] for name in KEPT if (folder / name).is_file()), KEPT["manifest.json"])
    if isinstance(known, str):
        module, _, function = known.partition(":")
        known = getattr(import_module(module), function)
    report: Report = known(folder)
    return report

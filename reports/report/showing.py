"""Printing of a report on stdout: as text for people, or as one JSON object."""

from __future__ import annotations

from pathlib import Path

from reports.console import print_json, say
from reports.report.json_text import as_json as plain_values
from reports.report.terminal import print_report
from reports.report.value import Report


def show(report: Report, *, as_json: bool) -> None:
    """Print a report."""
    if as_json:
        print_json(plain_values(report))
    else:
        print_report(report)


def show_with_page(report: Report, page: Path | None, *, as_json: bool) -> None:
    """Write the page of a report if a path is given, print the report, and print the path.

    Raises
    ------
    UsageError
        When the page cannot be written; then nothing is printed.
    """
    if page is not None:
        from reports.report.store import write_page

        write_page(report, page)
    show(report, as_json=as_json)
    if page is not None:
        say(f"page: {page}")

"""A report on stdout: for people, or as one JSON object."""

from __future__ import annotations

from reports.console import print_json
from reports.report.json_text import as_json as plain_values
from reports.report.terminal import print_report
from reports.report.value import Report


def show(report: Report, *, as_json: bool) -> None:
    """Print a report."""
    if as_json:
        print_json(plain_values(report))
    else:
        print_report(report)

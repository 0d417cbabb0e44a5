"""The report of `milepost drift`: whether the law of overlaps moves, and how to follow it."""

from reports.pages.drift.report import drift_report, kept_report

__all__ = ["drift_report", "kept_report"]

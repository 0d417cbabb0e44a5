"""The report of `milepost drift`: whether overlaps change over time, and how to adapt to it.

The law of overlaps is the distribution of how much of a prompt is shared with earlier prompts.
"""

from reports.pages.drift.report import drift_report, kept_report

__all__ = ["drift_report", "kept_report"]

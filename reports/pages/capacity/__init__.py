"""The report of `milepost capacity`: the least cache memory that meets a target."""

from reports.pages.capacity.report import capacity_report, kept_report

__all__ = ["capacity_report", "kept_report"]

"""Key numbers of the kinds that do not build a report yet."""

from reports.report.value import Number

__all__ = ["Number"]

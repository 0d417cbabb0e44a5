"""Comparison of two runs or two sweeps: differences in settings, then in results."""

from reports.compare.compare import compare_folders
from reports.compare.condition import Condition, parse_condition
from reports.compare.outcome import Change, Compared, TwoRuns

__all__ = [
    "Change",
    "Compared",
    "Condition",
    "TwoRuns",
    "compare_folders",
    "parse_condition",
]

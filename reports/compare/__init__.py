"""Two runs, or two sweeps, compared: what differs in what was asked, then in what came of it."""

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

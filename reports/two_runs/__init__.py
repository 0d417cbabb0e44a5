"""Two runs, or two sweeps, compared: what differs in what was asked, then in what came of it."""

from reports.two_runs.compare import compare_folders
from reports.two_runs.condition import Condition, parse_condition
from reports.two_runs.outcome import Change, Compared, TwoRuns

__all__ = [
    "Change",
    "Compared",
    "Condition",
    "TwoRuns",
    "compare_folders",
    "parse_condition",
]

"""Statistics of a trace, and how much of it a cache could save at best."""

from workloads.inspection.inspection import Inspection, inspect
from workloads.inspection.law import Quantiles
from workloads.inspection.overlaps import branch_points, end_only_savings, overlaps

__all__ = [
    "Inspection",
    "Quantiles",
    "branch_points",
    "end_only_savings",
    "inspect",
    "overlaps",
]

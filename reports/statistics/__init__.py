"""Intervals, differences, resampling, several comparisons at once, and warm-up.

Every interval is two-sided with nominal coverage 95 %; the tests measure the coverage on processes
whose truth is known.
"""

from reports.statistics.estimate import CONFIDENCE, Estimate, Method
from reports.statistics.intervals import (
    drawn_interval,
    holm,
    independent_difference,
    mean_interval,
    paired_difference,
)
from reports.statistics.parts import Quantile, Ratio, Statistic
from reports.statistics.resampling import (
    block_weights,
    clustered_difference,
    resampled_difference,
)
from reports.statistics.series import MIN_P99_REQUESTS, mser5, p99

__all__ = [
    "CONFIDENCE",
    "MIN_P99_REQUESTS",
    "Estimate",
    "Method",
    "Quantile",
    "Ratio",
    "Statistic",
    "block_weights",
    "clustered_difference",
    "drawn_interval",
    "holm",
    "independent_difference",
    "mean_interval",
    "mser5",
    "p99",
    "paired_difference",
    "resampled_difference",
]

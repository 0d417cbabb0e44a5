"""Intervals, differences, several comparisons at once, ranks, and warm-up.

Every interval is two-sided with nominal coverage 95 %; the tests measure the coverage on processes
whose truth is known.
"""

from reports.statistics.estimate import (
    CLAIMS,
    CONFIDENCE,
    SIGNIFICANCE,
    Estimate,
    Margin,
    Method,
    Verdict,
)
from reports.statistics.intervals import (
    corrected,
    drawn_interval,
    holm,
    independent_difference,
    mean_interval,
    paired_difference,
    ratio_of_means,
)
from reports.statistics.joint import Joint, replayed_together, replicated_together
from reports.statistics.parts import Quantile, Ratio, Room, Statistic
from reports.statistics.ranks import agreement, rank_bounds, ranks
from reports.statistics.replay import clustered_difference, replay_difference
from reports.statistics.warmup import MOST_WARMUP_SHARE, mser5

__all__ = [
    "CLAIMS",
    "CONFIDENCE",
    "MOST_WARMUP_SHARE",
    "SIGNIFICANCE",
    "Estimate",
    "Joint",
    "Margin",
    "Method",
    "Quantile",
    "Ratio",
    "Room",
    "Statistic",
    "Verdict",
    "agreement",
    "clustered_difference",
    "corrected",
    "drawn_interval",
    "holm",
    "independent_difference",
    "mean_interval",
    "mser5",
    "paired_difference",
    "rank_bounds",
    "ranks",
    "ratio_of_means",
    "replay_difference",
    "replayed_together",
    "replicated_together",
]

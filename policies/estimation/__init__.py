"""Overlap estimators: the law of overlap depths, learned from served requests."""

from __future__ import annotations

from policies.estimation.base import CountingEstimator
from policies.estimation.decay import Decay
from policies.estimation.frozen import Frozen
from policies.estimation.mixture import MixtureEstimator
from policies.estimation.period import Period
from policies.estimation.trend import Trend
from policies.estimation.window import WindowEstimator
from simulator.plugins.protocols import OverlapEstimator

ESTIMATORS: dict[str, type[OverlapEstimator]] = {
    "window": WindowEstimator,
    "decay": Decay,
    "frozen": Frozen,
    "mixture": MixtureEstimator,
    "trend": Trend,
    "period": Period,
}

__all__ = [
    "ESTIMATORS",
    "CountingEstimator",
    "Decay",
    "Frozen",
    "MixtureEstimator",
    "Period",
    "Trend",
    "WindowEstimator",
]

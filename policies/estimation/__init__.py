"""Overlap estimators: the law of overlap depths, learned from served requests."""

from __future__ import annotations

from policies.estimation.base import CountingEstimator
from policies.estimation.decay import Decay
from policies.estimation.frozen import Frozen
from policies.estimation.mixture import Mixture
from policies.estimation.window import Window
from simulator.plugins.protocols import OverlapEstimator

ESTIMATORS: dict[str, type[OverlapEstimator]] = {
    "window": Window,
    "decay": Decay,
    "frozen": Frozen,
    "mixture": Mixture,
}

__all__ = ["ESTIMATORS", "CountingEstimator", "Decay", "Frozen", "Mixture", "Window"]

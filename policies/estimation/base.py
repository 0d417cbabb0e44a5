"""Base class of overlap estimators, whose law is rebuilt only when it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from simulator.plugins.protocols import Law, Overlap


class CountingEstimator(ABC):
    """An estimator of the law of absolute depths, pooled over all prompts.

    The law is kept until an observation changes it, so its version tells whether a plan is stale.
    """

    scope: ClassVar[str] = "global"
    coordinate: ClassVar[str] = "start"
    source: ClassVar[str] = ""

    def __init__(self) -> None:
        self._law = Law(np.empty(0, np.int64), np.empty(0))
        self._stale = False

    @property
    @abstractmethod
    def effective_samples(self) -> float:
        """Effective sample size: (sum of weights)^2 / sum of squared weights."""

    @abstractmethod
    def _take(self, depth: int) -> None:
        """Count a depth; 0 is a miss."""

    @abstractmethod
    def _weights(self) -> Mapping[int, float]:
        """Return the weight of each depth, 0 included."""

    def observe(self, overlap: Overlap) -> None:
        """Take one more observation; a depth beyond the prompt counts as its length."""
        self._take(min(overlap.depth, overlap.prompt_tokens))
        self._stale = True

    def law(self) -> Law:
        """Return the current law; empty before the first observation."""
        if self._stale:
            self._stale = False
            weights = self._weights()
            depths = sorted(depth for depth in weights if depth > 0)
            law = Law(
                np.array(depths, np.int64),
                np.array([weights[depth] for depth in depths], np.float64),
                float(weights.get(0, 0.0)),
                self._law.version + 1,
            )
            if not same(law, self._law):
                self._law = law
        return self._law


def same(one: Law, other: Law) -> bool:
    """Say whether two laws are one distribution on one scale, whatever their versions."""
    return (
        one.misses == other.misses
        and np.array_equal(one.depths, other.depths)
        and np.array_equal(one.weights, other.weights)
    )

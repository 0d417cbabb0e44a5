"""Joint evidence on several policies: p-values for the difference of each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from reports.statistics.parts import Statistic
from reports.statistics.replay import too_short
from reports.statistics.waves import error_of, waves

Floats = NDArray[np.float64]
_PAIRS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Values of a metric for several policies, with the data to test each pair's difference.

    The policies share random numbers. The data are either replications or one replay.

    Parameters
    ----------
    values
        The metric of each policy, float64 of shape (policies,).
    draws
        float64 of shape (draws, policies). For replications, the values in each of them; for a
        replay, the slow waves (cosine transforms) of the blocks' influences on the values. None if
        there are too few data for a test.
    scale
        For replications, the factor from the standard deviation of a difference between two
        policies to its standard error.
    freedom
        For replications, the degrees of freedom of the Student's t.
    blocks
        For a replay, the number of its blocks of time; 0 for replications.
    memory
        For a replay, the correlation length in blocks, as in `replay_difference`.
    """

    values: Floats
    draws: Floats | None = None
    scale: float = 1.0
    freedom: float = 1.0
    blocks: int = 0
    memory: float = 0.0

    @property
    def opposite(self) -> Joint:
        """The same data with the signs of the values reversed, for metrics where less is better."""
        return replace(self, values=-self.values)

    def p_values(self) -> Floats:
        """Return the two-sided p-value of each pair, float64 (policies, policies).

        NaN where there is no test: too few data, or values that are equal in every draw.
        """
        count = len(self.values)
        values = np.full((count, count), np.nan)
        if self.draws is None:
            return values
        ones, others = np.triu_indices(count, 1)
        for first in range(0, len(ones), _PAIRS_AT_ONCE):
            one, other = (each[first : first + _PAIRS_AT_ONCE] for each in (ones, others))
            values[one, other] = values[other, one] = self._of_pairs(self.draws, one, other)
        return values

    def _of_pairs(self, draws: Floats, one: NDArray[np.intp], other: NDArray[np.intp]) -> Floats:
        between = draws[:, one] - draws[:, other]
        apart = np.abs(self.values[one] - self.values[other])
        errors, freedom = between.std(axis=0, ddof=1) * self.scale, np.full(len(one), self.freedom)
        if self.blocks:
            errors, freedom = error_of(between, self.blocks, self.memory)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = apart / errors  # infinite where all draws agree; NaN where equal too
        p_values = np.asarray(2 * stdtr(freedom, -steps), dtype=np.float64)
        p_values[(apart == 0) & (errors == 0)] = np.nan
        return p_values


def replicated_together(values: Floats, *, another: bool = False) -> Joint:
    """Return the joint evidence of replications, float64 (replications, policies).

    With `another`, the error is that of predicting one more replication, as for draws of the
    costs, rather than that of the mean. A single replication gives no test.
    """
    count, mean = len(values), values.mean(axis=0)
    if count < 2:
        return Joint(mean)
    return Joint(mean, values, math.sqrt(1 / count + another), count - 1)


def replayed_together(statistics: Sequence[Statistic], memory: float = 0.0) -> Joint:
    """Return the joint evidence of one replay, from its blocks of time: see `replay_difference`."""
    values = np.array([each.value for each in statistics])
    parts = statistics[0].parts
    if too_short(parts, memory) or not np.isfinite(values).all():
        return Joint(values)
    influence = np.stack([each.influence for each in statistics], axis=1)
    return Joint(values, waves(influence), blocks=parts, memory=memory)

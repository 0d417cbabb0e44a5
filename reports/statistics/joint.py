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
    """Values of several policies under the same random numbers.

    Parameters
    ----------
    values
        float64 of shape (policies,).
    draws
        float64 of shape (draws, policies): the values in each replication, or the slow waves of
        what blocks of time add to their error. None where nothing tells.
    scale
        Of replications: of two policies the standard deviation of the difference, times this, is
        its standard error.
    freedom
        Of replications: degrees of freedom of the Student's t.
    blocks
        Of a replay: how many blocks it has; 0 of replications.
    memory
        Of a replay: see `replay_difference`.
    """

    values: Floats
    draws: Floats | None = None
    scale: float = 1.0
    freedom: float = 1.0
    blocks: int = 0
    memory: float = 0.0

    @property
    def opposite(self) -> Joint:
        """The same for a metric of which less is better."""
        return replace(self, values=-self.values)

    def p_values(self) -> Floats:
        """Return the two-sided p-value of each pair, float64 (policies, policies).

        NaN where there is no test to make: nothing tells, or the two do not differ at all.
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

    With `another` the error is that of one more replication, as for draws of the costs, not that
    of the mean. One replication tells nothing.
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

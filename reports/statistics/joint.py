"""Several policies measured together: how surely one is above another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from reports.statistics.parts import Statistic
from reports.statistics.resampling import FEWEST_DRAWS, block_weights, run_length

Floats = NDArray[np.float64]
_CANCELS = 1e-8  # of a variance: less than this is left by cancellation


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Values of several policies under the same random numbers.

    Parameters
    ----------
    values
        float64 of shape (policies,).
    draws
        float64 of shape (draws, policies): the values under other random numbers; of two policies
        the standard deviation of the difference, times `scale`, is its standard error. None
        where nothing tells.
    scale
        See above.
    freedom
        Degrees of freedom of the Student's t.
    """

    values: Floats
    draws: Floats | None = None
    scale: float = 1.0
    freedom: float = 1.0

    def p_values(self) -> Floats:
        """Return the two-sided p-value of each pair, float64 (policies, policies).

        NaN where there is no test to make: nothing tells, or the two do not differ at all.
        """
        if self.draws is None:
            return np.full((len(self.values), len(self.values)), np.nan)
        apart = np.abs(self.values[:, None] - self.values[None, :])
        errors = _spread_apart(self.draws) * self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = apart / errors  # infinite where all draws agree; NaN where equal too
        p_values = np.asarray(2 * stdtr(self.freedom, -steps), dtype=np.float64)
        p_values[(apart == 0) & (errors == 0)] = np.nan
        return p_values


def _spread_apart(draws: Floats) -> Floats:
    """Return the standard deviation of the difference of each pair of columns.

    It comes from the covariances, or, of columns that are nearly the same, from the differences.
    """
    draws, place = np.unique(draws, axis=1, return_inverse=True)  # policies that did the same
    centred = draws - draws.mean(axis=0)
    covariance = centred.T @ centred / (len(draws) - 1)
    each = np.diag(covariance)
    variance = each[:, None] + each[None, :] - 2 * covariance
    for one, other in zip(*np.nonzero(variance < _CANCELS * each), strict=True):
        variance[one, other] = (draws[:, one] - draws[:, other]).var(ddof=1)
    spread: Floats = np.sqrt(variance)
    return spread[np.ix_(place, place)]


def replicated_together(values: Floats, *, another: bool = False) -> Joint:
    """Return the joint evidence of replications, float64 (replications, policies).

    With `another` the error is that of one more replication, as for draws of the costs, not that
    of the mean. One replication tells nothing.
    """
    count, mean = len(values), values.mean(axis=0)
    if count < 2:
        return Joint(mean)
    return Joint(mean, values, math.sqrt(1 / count + another), count - 1)


def resampled_together(statistics: Sequence[Statistic]) -> Joint:
    """Return the joint evidence of one replay, from resampling its blocks of time.

    All take the same draws of the circular block bootstrap of `resampled_difference`.
    """
    values = np.array([each.value for each in statistics])
    parts = statistics[0].parts
    run = run_length(parts)
    if parts / run < FEWEST_DRAWS or not np.isfinite(values).all():
        return Joint(values)
    weights = block_weights(parts, run)
    draws = np.stack([each.resampled(weights) for each in statistics], axis=1)
    if not np.isfinite(draws).all():
        return Joint(values)
    independent = parts / run
    return Joint(values, draws, math.sqrt(independent / (independent - 1)), independent - 1)

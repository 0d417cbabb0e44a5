"""Permutation tests of whether two traces differ.

Under the null hypothesis that both follow one distribution, it does not matter which units of
traffic were in which trace: every way to assign the pooled units is equally likely. With B random
assignments of which b put the traces at least as far apart as they are, (b + 1) / (B + 1) is an
exact p-value. Requests that depend on each other stay in one unit. Two kinds of units are tried,
blocks of time and sessions, and the larger p-value counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reports.trace.comparison.sides import Float64, Kind
from workloads.randomness import stream

Tables = Mapping[Kind, Sequence[Float64]]  # kind of unit -> sums of each unit, of both traces
Statistic = Callable[[Float64, Float64], Float64]

SPLITS = 999
ROUNDING = 1e-9


@dataclass(slots=True)
class Chance:
    """Random assignments of units to two traces, the same for all measures.

    Parameters
    ----------
    seed
        The seed of the assignments.
    """

    seed: int
    _splits: dict[tuple[Kind, int, int], Float64] = field(default_factory=dict)

    def p_value(self, tables: Tables, statistic: Statistic) -> float | None:
        """Return the p-value of a distance of two traces; None where no kind of unit gives one.

        Parameters
        ----------
        tables
            Kind of unit -> sums of each unit, float64 (units, columns), for both traces.
        statistic
            Function from the sums of both traces, float64 (splits, columns) each, to distances,
            float64 (splits,).
        """
        p_values = [
            self._p_of(kind, one, other, statistic) for kind, (one, other) in tables.items()
        ]
        known = [p for p in p_values if p is not None]
        return max(known, default=None)

    def _p_of(self, kind: Kind, one: Float64, other: Float64, statistic: Statistic) -> float | None:
        pooled = np.concatenate([one, other])
        sums = self._membership(kind, len(one), len(other)) @ pooled
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = statistic(sums, pooled.sum(axis=0) - sums)
        if not np.isfinite(apart[0]):
            return None
        least = apart[0] - ROUNDING * max(1.0, abs(apart[0]))
        as_far = np.count_nonzero(np.nan_to_num(apart[1:], nan=0.0) >= least)
        return float((1 + as_far) / (SPLITS + 1))

    def _membership(self, kind: Kind, one: int, other: int) -> Float64:
        """Return 1 for each unit of the first trace, else 0: float64 (1 + splits, units).

        Row 0 is the true assignment.
        """
        name = (kind, one, other)
        if name not in self._splits:
            truth = np.repeat([1.0, 0.0], [one, other])
            rng = stream(self.seed, f"compare {kind}")
            dealt = rng.permuted(np.tile(truth, (SPLITS, 1)), axis=1)
            self._splits[name] = np.vstack([truth, dealt])
        return self._splits[name]

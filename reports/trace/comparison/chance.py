"""Whether two traces are further apart than chance puts the parts of one.

Under the null hypothesis that both follow one law, it does not matter which units of traffic were
in which: every way to deal them out is equally likely. With B random ways of which b put the two
at least as far apart as they are, (b + 1) / (B + 1) is an exact p-value. Units are dealt out whole,
so what depends on each other within one is part of what chance does. Two kinds are tried, blocks of
time and sessions, and the larger p-value counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reports.trace.comparison.sides import Float64, Kind
from workloads.randomness import stream

Tables = Mapping[Kind, Sequence[Float64]]  # what is summed by unit, of both traces
Statistic = Callable[[Float64, Float64], Float64]

SPLITS = 999
ROUNDING = 1e-9


@dataclass(slots=True)
class Chance:
    """Random splits, the same for all measures.

    Parameters
    ----------
    seed
        Of the splits.
    """

    seed: int
    _splits: dict[tuple[Kind, int, int], Float64] = field(default_factory=dict)

    def p_value(self, tables: Tables, statistic: Statistic) -> float | None:
        """Return how often chance puts two traces as far apart; None where nothing tells.

        Parameters
        ----------
        tables
            By kind of unit: what is summed, float64 (units, columns), for both traces.
        statistic
            Sums of one and of the other, float64 (splits, columns) each, to their distances.
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
        """Return which units are in the first trace, float64 (1 + splits, units): truth first."""
        name = (kind, one, other)
        if name not in self._splits:
            truth = np.repeat([1.0, 0.0], [one, other])
            rng = stream(self.seed, f"compare {kind}")
            dealt = rng.permuted(np.tile(truth, (SPLITS, 1)), axis=1)
            self._splits[name] = np.vstack([truth, dealt])
        return self._splits[name]

"""Statistical evidence on whether a capacity that was tried meets the target.

A capacity *surely* meets the target if the whole 95 % interval of the metric does, and *may* meet
it if a part of the interval does. The interval of the least capacity reaches from the greatest one
that surely misses to the least that surely meets: it is the set of capacities that a test at the
5 % level does not reject. It keeps its coverage with few replications, where a bootstrap over three
seeds would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from reports.capacity.measures import ratio_limit, target_value
from reports.capacity.target import Target
from reports.results.evidence import mean_of
from reports.statistics import (
    Estimate,
    Method,
    Ratio,
    drawn_interval,
    mean_interval,
    replay_difference,
)

Metrics = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """A capacity tried, over its replications.

    Parameters
    ----------
    capacity_bytes
        The capacity.
    value
        Mean of the target's metric over replications; the worst value where requests were not
        served.
    may, met, sure
        Whether the capacity may meet the target, meets it by its value, and surely meets it; each
        implies the one before.
    method
        How the interval behind `may` and `sure` was computed.
    rows
        The metrics of the cells (simulations), by replication.
    """

    capacity_bytes: int
    value: float
    may: bool
    met: bool
    sure: bool
    method: Method
    rows: tuple[Metrics, ...]

    def mean(self, name: str) -> float | None:
        """Return the mean of a metric over replications; None if one of them lacks it."""
        return mean_of(self.rows, name)


def judge(capacity_bytes: int, rows: Sequence[Metrics], target: Target, *, drawn: bool) -> Trial:
    """Return whether one capacity meets the target, judged from its cells (simulations).

    Parameters
    ----------
    capacity_bytes, rows
        The capacity, and the metrics of its cells by replication.
    target
        The metric and its limit.
    drawn
        Whether replications differ by random draws of the costs.
    """
    values = [target_value(row, target) for row in rows]
    if not all(map(isfinite, values)):
        some = any(target.met(value) for value in values)
        return Trial(capacity_bytes, target.worst, some, False, False, "none", tuple(rows))
    estimate, limit = _estimate(values, drawn), target.limit
    if len(values) == 1:
        estimate, limit = _blocks(rows[0], estimate), ratio_limit(target)
    met = target.met(float(np.mean(values)))
    may, sure = _ends(estimate, limit, target)
    return Trial(
        capacity_bytes,
        float(np.mean(values)),
        met or may,
        met,
        met and sure,
        estimate.method,
        tuple(rows),
    )


def _estimate(values: Sequence[float], drawn: bool) -> Estimate:
    return drawn_interval(values) if drawn else mean_interval(values)


def _blocks(row: Metrics, alone: Estimate) -> Estimate:
    """Return the ratio over blocks of time with its interval; `alone` without blocks."""
    over, under = (
        np.asarray(row[name], dtype=np.float64) for name in ("block_over", "block_under")
    )
    if not len(over):
        return alone
    share = (row.get("memory_requests") or 0.0) / (row.get("requests_total") or len(over))
    return replay_difference(Ratio(over, under), None, share * len(over))


def _ends(estimate: Estimate, limit: float, target: Target) -> tuple[bool, bool]:
    """Return whether some of the interval meets the limit, and whether all of it does."""
    if estimate.low is None or estimate.high is None:
        return False, True  # without an interval the value alone decides
    if target.metric.less_is_better:
        return estimate.low <= limit, estimate.high <= limit
    return estimate.high >= limit, estimate.low >= limit

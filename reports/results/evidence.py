"""Estimates of a point (policies at one capacity) and differences of two, from their cells.

The evidence for an interval is, in this order: draws of what the costs might be; replications with
seeds of their own; blocks of time of one replay; none. A deterministic replay repeated is one
replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.statistics import (
    Estimate,
    Joint,
    Ratio,
    Room,
    drawn_interval,
    mean_interval,
    ratio_of_means,
    replay_difference,
    replayed_together,
    replicated_together,
)

Row = dict[str, Any]
Metric = Literal[
    "token_hit_rate",
    "ttft_seconds",
    "ttft_p50_seconds",
    "ttft_p90_seconds",
    "ttft_p99_seconds",
    "finished_share",
]

# metric -> flat column, numerator and denominator over blocks of time where it is such a ratio
_COLUMNS: dict[Metric, tuple[str, str, str]] = {
    "token_hit_rate": ("token_hit_rate", "block_saved_tokens", "block_prompt_tokens"),
    "ttft_seconds": ("ttft_mean_seconds", "block_ttft_seconds", "block_finished"),
}


def _columns(metric: Metric) -> tuple[str, str, str]:
    """Return the columns of a metric: for most, the column of the same name."""
    return _COLUMNS.get(metric, (metric, "", ""))


def finished(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of cells that did not fail, by replication."""
    alive = [row for row in rows if row.get("error") is None]
    return tuple(sorted(alive, key=lambda row: row["replication"]))


def mean_of(rows: Sequence[Mapping[str, Any]], metric: str) -> float | None:
    """Return the mean of a metric over replications; None where it is missing in one."""
    values = [row.get(metric) for row in rows]
    present = [float(value) for value in values if value is not None]
    if not values or len(present) < len(values) or not np.isfinite(present).all():
        return None
    return float(np.mean(present))


def estimate(rows: Sequence[Row], metric: Metric, deterministic: bool) -> Estimate | None:
    """Return a metric of one point with its interval; None where no row has it."""
    return _estimate([rows], metric, deterministic)


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], metric: Metric, deterministic: bool
) -> Estimate | None:
    """Return the paired difference of two points; None where no pair of cells has the metric."""
    return _estimate([ours, theirs], metric, deterministic)


def _estimate(
    groups: Sequence[Sequence[Row]], metric: Metric, deterministic: bool
) -> Estimate | None:
    """Return a metric of the first group, less that of the second where there are two."""
    together = _together(groups, metric)
    if not together:
        return None
    ours, *theirs = np.array([[_known(row, metric) for row in rows] for rows in together]).T
    values, first = ours - sum(theirs), [rows[0] for rows in together]
    if _drawn(first):
        return drawn_interval(values)
    if _replicated(first, deterministic):
        return mean_interval(values)
    ratios = _ratios(together[0], metric)
    if ratios is None:
        return Estimate(float(values[0]))
    other = ratios[1] if theirs else None
    return _centred(float(values[0]), replay_difference(ratios[0], other, _memory(together[0])))


def joint(groups: Sequence[Sequence[Row]], metric: Metric, deterministic: bool) -> Joint | None:
    """Return a metric of several points over the cells that all have; None where there is none."""
    together = _together(groups, metric)
    if not together:
        return None
    values = np.array([[_known(row, metric) for row in rows] for rows in together])
    first = [rows[0] for rows in together]
    if _drawn(first) or _replicated(first, deterministic):
        return replicated_together(values, another=_drawn(first))
    ratios = _ratios(together[0], metric)
    return Joint(values[0]) if ratios is None else replayed_together(ratios, _memory(together[0]))


def share_of_room(
    ours: Sequence[Row], base: Sequence[Row], top: Sequence[Row], deterministic: bool
) -> Estimate | None:
    """Return the token hit rate of one point on a scale of 0, that of `base`, to 1, that of `top`.

    None where no cell is in all three, or there is no room between the two.
    """
    together = _together([ours, base, top], "token_hit_rate")
    values = np.array([[_known(row, "token_hit_rate") for row in rows] for rows in together])
    if not together or values[:, 1].mean() == values[:, 2].mean():
        return None
    over, under = values[:, 0] - values[:, 1], values[:, 2] - values[:, 1]
    share = float(over.mean() / under.mean())
    first = [rows[0] for rows in together]
    if _drawn(first):
        return drawn_interval(over / under) if under.all() else Estimate(share)
    if _replicated(first, deterministic):
        return ratio_of_means(over, under)
    ratios = _ratios(together[0], "token_hit_rate")
    if ratios is None:
        return Estimate(share)
    return _centred(share, replay_difference(Room(*ratios), None, _memory(together[0])))


def _together(groups: Sequence[Sequence[Row]], metric: Metric) -> list[tuple[Row, ...]]:
    """Return the cells that all groups have, of one replication each, in the order of the first."""
    keyed = [
        {(row["replication"], row["seed"]): row for row in rows if _value(row, metric) is not None}
        for rows in groups
    ]
    shared = [key for key in keyed[0] if all(key in rows for rows in keyed)]
    return [tuple(rows[key] for rows in keyed) for key in shared]


def _ratios(rows: Sequence[Row], metric: Metric) -> list[Ratio] | None:
    """Return the ratios over blocks of time of several cells; None where one does not tell."""
    ratios = [_ratio(row, metric) for row in rows]
    known = [ratio for ratio in ratios if ratio is not None]
    same = len({ratio.parts for ratio in known}) == 1
    return known if same and len(known) == len(ratios) else None


def _drawn(rows: Sequence[Row]) -> bool:
    """Whether the rows differ by draws of the costs."""
    return len({row["draw"] for row in rows if row.get("draw") is not None}) > 1


def _replicated(rows: Sequence[Row], deterministic: bool) -> bool:
    return not deterministic and len({row["seed"] for row in rows}) > 1


def _memory(rows: Sequence[Row]) -> float:
    """Return for how many blocks a block is remembered in any of these cells; 0 where unknown."""
    known = [row for row in rows if row.get("memory_requests") and row.get("requests_total")]
    return max(
        (
            row["memory_requests"] / row["requests_total"] * len(row["block_prompt_tokens"])
            for row in known
        ),
        default=0.0,
    )


def _centred(value: float, interval: Estimate) -> Estimate:
    """Return the interval of the blocks around the value of the cell, the same up to rounding."""
    if interval.low is None or interval.high is None:
        return Estimate(value, reason=interval.reason)
    half = (interval.high - interval.low) / 2
    return replace(interval, value=value, low=value - half, high=value + half)


def _ratio(row: Row, metric: Metric) -> Ratio | None:
    _, over, under = _columns(metric)
    columns = [np.asarray(row.get(name) or [], dtype=np.float64) for name in (over, under)]
    usable = len(columns[0]) and len(columns[0]) == len(columns[1]) and _finite(columns)
    return Ratio(*columns) if usable else None


def _finite(columns: Sequence[NDArray[np.float64]]) -> bool:
    return all(bool(np.isfinite(column).all()) for column in columns)


def _value(row: Row, metric: Metric) -> float | None:
    value = row.get(_columns(metric)[0])
    return float(value) if value is not None and np.isfinite(value) else None


def _known(row: Row, metric: Metric) -> float:
    value = _value(row, metric)
    if value is None:
        raise ValueError(f"a row without {metric} is no evidence")
    return value

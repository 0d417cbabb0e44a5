"""What the cells of one point say, and what two points say of each other.

The evidence for an interval is, in this order: draws of what the costs might be; replications with
seeds of their own; blocks of time of one replay; none. A deterministic replay repeated is one
replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.statistics import (
    Estimate,
    Ratio,
    drawn_interval,
    mean_interval,
    paired_difference,
    resampled_difference,
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
    "ttft_p50_seconds": ("ttft_p50_seconds", "", ""),
    "ttft_p90_seconds": ("ttft_p90_seconds", "", ""),
    "ttft_p99_seconds": ("ttft_p99_seconds", "", ""),
    "finished_share": ("finished_share", "", ""),
}


def finished(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of cells that did not fail, by replication."""
    alive = [row for row in rows if row.get("error") is None]
    return tuple(sorted(alive, key=lambda row: row["replication"]))


def estimate(rows: Sequence[Row], metric: Metric, deterministic: bool) -> Estimate | None:
    """Return a metric of one point with its interval; None where no row has it."""
    rows = [row for row in rows if _value(row, metric) is not None]
    if not rows:
        return None
    if _drawn(rows):
        return drawn_interval([_known(row, metric) for row in rows])
    if _replicated(rows, deterministic):
        return mean_interval([_known(row, metric) for row in rows])
    ours = _ratio(rows[0], metric)
    return _centred(_known(rows[0], metric), resampled_difference(ours, None) if ours else None)


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], metric: Metric, deterministic: bool
) -> Estimate | None:
    """Return the paired difference of two points; None where no pair of cells has the metric."""
    others = {(row["replication"], row["seed"]): row for row in theirs}
    keyed = [(row, others.get((row["replication"], row["seed"]))) for row in ours]
    pairs = [
        (mine, other)
        for mine, other in keyed
        if other and _value(mine, metric) is not None and _value(other, metric) is not None
    ]
    if not pairs:
        return None
    values = np.array([[_known(row, metric) for row in pair] for pair in pairs])
    if _drawn([mine for mine, _ in pairs]):
        return drawn_interval(values[:, 0] - values[:, 1])
    if _replicated([mine for mine, _ in pairs], deterministic):
        return paired_difference(values[:, 0], values[:, 1])
    mine, other = pairs[0]
    return _centred(_known(mine, metric) - _known(other, metric), _resampled(mine, other, metric))


def _drawn(rows: Sequence[Row]) -> bool:
    """Whether the rows differ by draws of the costs."""
    return len({row["draw"] for row in rows if row.get("draw") is not None}) > 1


def _replicated(rows: Sequence[Row], deterministic: bool) -> bool:
    return not deterministic and len({row["seed"] for row in rows}) > 1


def _resampled(mine: Row, other: Row, metric: Metric) -> Estimate | None:
    ours, theirs = _ratio(mine, metric), _ratio(other, metric)
    if not ours or not theirs or len(ours.numerator) != len(theirs.numerator):
        return None
    return resampled_difference(ours, theirs)


def _centred(value: float, resampled: Estimate | None) -> Estimate:
    """Return the resampled interval around the value of the cell, the same up to rounding."""
    if resampled is None or resampled.low is None or resampled.high is None:
        return Estimate(value)
    half = (resampled.high - resampled.low) / 2
    return replace(resampled, value=value, low=value - half, high=value + half)


def _ratio(row: Row, metric: Metric) -> Ratio | None:
    _, over, under = _COLUMNS[metric]
    columns = [np.asarray(row.get(name) or [], dtype=np.float64) for name in (over, under)]
    usable = len(columns[0]) and len(columns[0]) == len(columns[1]) and _finite(columns)
    return Ratio(*columns) if usable else None


def _finite(columns: Sequence[NDArray[np.float64]]) -> bool:
    return all(bool(np.isfinite(column).all()) for column in columns)


def _value(row: Row, metric: Metric) -> float | None:
    value = row.get(_COLUMNS[metric][0])
    return float(value) if value is not None and np.isfinite(value) else None


def _known(row: Row, metric: Metric) -> float:
    value = _value(row, metric)
    if value is None:
        raise ValueError(f"a row without {metric} is no evidence")
    return value

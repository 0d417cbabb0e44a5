"""The measure of a target in one cell: a value, and sums over blocks of time.

A request that was rejected or not finished waits for ever: it counts in every percentile, and makes
a mean infinite. A quantile is the least time within which that share of the counted requests have
their first token; so it meets a limit where at most the rest of them are late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.artifacts.journal import CellOutcome
from reports.capacity.price import MILLION, Prices
from reports.capacity.target import Target
from reports.execution.runner import CellTask
from reports.results.memory import RememberedRequests, memory_requests
from reports.results.metrics import BLOCKS, flat_metrics
from reports.study.traces import open_stored, with_times
from simulator.base.errors import UsageError
from simulator.results.percentiles import complement, least_requests
from simulator.results.records import FINISHED

if TYPE_CHECKING:
    from simulator.results.result import Result

Float64 = NDArray[np.float64]
Sums = tuple[Float64, Float64]


def capacity_cell(task: CellTask, target: Target, prices: Prices | None) -> CellOutcome:
    """Simulate one cell and measure its target."""
    from reports.study.cells import scenario_of
    from simulator.simulation import simulate

    study = task.cell.study
    trace = with_times(open_stored(task.trace), study, task.cell.seed)
    result = simulate(trace, scenario_of(task.cell))
    warmup = study.study.warmup_share
    rows = CountedColumns.of(result, warmup)
    measured = measure(rows, target, prices, study.cache.capacity)
    return CellOutcome(
        task.identity,
        {
            **flat_metrics(result, warmup),
            **measured,
            "memory_requests": memory_requests(RememberedRequests.of(trace, result, warmup)),
            "busy_seconds": _known(float(rows.busy.sum())),
            "span_seconds": _known(float(rows.spans().sum())),
            "served_tokens": int(rows.served_tokens.sum()),
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class CountedColumns:
    """The columns of the requests that count.

    Parameters
    ----------
    served
        Whether each finished.
    ttft, busy
        float64: seconds to the first token, infinite where not served; of the GPU.
    arrival
        float64, seconds.
    prompt_tokens, saved_tokens
        int64.
    """

    served: NDArray[np.bool_]
    ttft: Float64
    busy: Float64
    arrival: Float64
    prompt_tokens: NDArray[np.int64]
    saved_tokens: NDArray[np.int64]

    @classmethod
    def of(cls, result: Result, warmup: float) -> CountedColumns:
        """Take the rows of a result behind its warm-up."""
        rows = result.rows_after(warmup)
        served = rows["status"] == FINISHED
        busy = rows["restore_seconds"] + rows["prefill_seconds"] + rows["capture_seconds"]
        return cls(
            served,
            np.where(served, rows["ttft_seconds"], np.inf),
            np.where(served, busy, 0.0),
            rows["arrival_seconds"],
            rows["prompt_tokens"],
            rows["saved_tokens"],
        )

    def __len__(self) -> int:
        return len(self.served)

    @property
    def served_tokens(self) -> NDArray[np.int64]:
        """Prompt tokens of the served requests."""
        return np.where(self.served, self.prompt_tokens, 0)

    def spans(self) -> Float64:
        """Return the time that each request adds to the span: from the first arrival to the end.

        The end is the latest of all arrivals and first tokens so far.
        """
        ends = np.where(self.served, self.arrival + self.ttft, self.arrival)
        return np.diff(np.maximum.accumulate(ends), prepend=self.arrival[:1])


def measure(
    rows: CountedColumns, target: Target, prices: Prices | None, capacity_bytes: int | None
) -> dict[str, Any]:
    """Return the value of the target's metric, and numerators and denominators by block of time.

    None where the value is infinite or not defined. The blocks' ratio is compared with
    `ratio_limit`.

    Raises
    ------
    UsageError
        For a percentile of fewer requests than can tell it.
    """
    refuse_few(target, len(rows))
    over, under = _sums(rows, target, prices, capacity_bytes)
    quantile = target.metric.quantile
    value = _ratio(over, under) if quantile is None else _quantile(rows.ttft, quantile)
    blocks = np.isfinite(over).all() and len(rows)
    starts = np.linspace(0, len(rows), min(BLOCKS, len(rows)) + 1).astype(np.int64)[:-1]
    return {
        "target_value": _known(value),
        "block_over": np.add.reduceat(over, starts).tolist() if blocks else [],
        "block_under": np.add.reduceat(under, starts).tolist() if blocks else [],
    }


def ratio_limit(target: Target) -> float:
    """Return the limit of the blocks' ratio: of a quantile, the share that may be late."""
    quantile = target.metric.quantile
    return target.limit if quantile is None else complement(quantile)


def refuse_few(target: Target, requests: int) -> None:
    """Refuse a percentile that so many counted requests cannot tell; none at all are no problem.

    Raises
    ------
    UsageError
        With the number that can.
    """
    needed, name = _needed(target), target.metric.name
    if 0 < requests < needed:
        raise UsageError(
            f"--target {name}: expected {needed:,} counted requests or more, found {requests:,}: "
            f"fewer cannot tell a {name.removesuffix('_ttft').upper()}"
        )


def _needed(target: Target) -> int:
    """Return from how many requests on the target's metric is told."""
    return 0 if target.metric.quantile is None else least_requests(target.metric.quantile)


def _sums(
    rows: CountedColumns, target: Target, prices: Prices | None, capacity: int | None
) -> Sums:
    """Return numerator and denominator of each request."""
    ones = np.ones(len(rows))
    metric = target.metric
    if metric.quantile is not None:
        return (rows.ttft > target.limit).astype(np.float64), ones
    if metric.unit == "seconds":
        return rows.ttft, ones
    if metric.unit == "share":
        return rows.saved_tokens.astype(np.float64), rows.prompt_tokens.astype(np.float64)
    if metric.unit == "rate":
        return rows.served.astype(np.float64), rows.spans()
    assert prices is not None
    assert capacity is not None
    dollars = prices.gpu_dollars(1.0) * rows.busy
    dollars += prices.memory_dollars(capacity, 1.0) * rows.spans()
    return dollars, rows.served_tokens / MILLION


def _known(value: float) -> float | None:
    """Return a value, or None for one that is infinite or, as without times, none."""
    return value if isfinite(value) else None


def _quantile(ttft: Float64, share: float) -> float:
    return float(np.quantile(ttft, share, method="inverted_cdf")) if len(ttft) else float("nan")


def _ratio(over: Float64, under: Float64) -> float:
    below = float(under.sum())
    return float(over.sum()) / below if below > 0 else float("nan")


def target_value(metrics: Mapping[str, Any], target: Target) -> float:
    """Return the value that a cell measured; the worst where it has none."""
    value = metrics["target_value"]
    return target.worst if value is None else float(value)

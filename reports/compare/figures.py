"""The figures of a run, and the parts that its requests fall into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reports.compare.measures import Measure
from reports.compare.run_folder import TIMES, Columns
from reports.results.memory import RememberedRequests, busy_seconds, memory_requests
from reports.results.metrics import BLOCKS
from reports.statistics import Quantile, Ratio
from simulator.results.percentiles import least_requests
from simulator.results.records import FINISHED

Unit = Literal["time", "sessions", "documents"]
UNITS: tuple[Unit, ...] = ("time", "sessions", "documents")
MOST_PARTS = 2048  # more are put together, some in each, which leaves the error unbiased


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Groups of requests (blocks, sessions or documents) that are resampled together."""

    unit: Unit
    part: NDArray[np.int64]  # int64, one a request: its part, counted from 0
    count: int


def parts_of(columns: Columns, unit: Unit) -> Parts | None:
    """Return the parts of a unit; None where the run does not tell them for every request."""
    requests = len(columns["request"])
    if unit == "time":
        count = min(BLOCKS, requests)
        edges = np.linspace(0, requests, count + 1).astype(np.int64)
        return Parts(unit, np.repeat(np.arange(count), np.diff(edges)), count) if count else None
    numbers = columns.get(unit.removesuffix("s"))
    if numbers is None or not requests or numbers.min() < 0:
        return None
    _, part = np.unique(numbers, return_inverse=True)
    part = part.astype(np.int64) % MOST_PARTS
    return Parts(unit, part, int(part.max()) + 1)


def memory_of(columns: Columns) -> float:
    """Return over what share of all requests the effect of one request lasts."""
    timed = all(name in columns for name in TIMES)
    count = len(columns["request"])
    requests = RememberedRequests(
        columns.get("session"),
        columns["prompt_tokens"],
        columns["arrival_seconds"] if timed else None,
        busy_seconds(columns) if timed else np.zeros(count),
    )
    return memory_requests(requests) / max(count, 1)


def figure(columns: Columns, measure: Measure) -> float | None:
    """Return a measure over all of the requests; None where it is not defined."""
    everything = Parts("time", np.zeros(len(columns["request"]), dtype=np.int64), 1)
    statistic = statistic_of(columns, measure, everything)
    value = statistic.value if statistic else np.nan
    return value if np.isfinite(value) else None


def statistic_of(columns: Columns, measure: Measure, parts: Parts) -> Ratio | Quantile | None:
    """Return a measure by parts; None for a percentile of too few requests."""
    finished = columns["status"] == FINISHED
    if measure.level is not None:
        return _quantile(columns["ttft_seconds"][finished], measure.level, parts, finished)
    over, under = {
        "token_hit_rate": (columns["saved_tokens"], columns["prompt_tokens"]),
        "mean_ttft": (np.where(finished, columns["ttft_seconds"], 0.0), finished),
        "finished_share": (finished, np.ones(len(finished))),
    }[measure.name]
    return Ratio(_sums(over, parts), _sums(under, parts))


def _quantile(
    ttft_seconds: NDArray[np.float64], level: float, parts: Parts, finished: NDArray[np.bool_]
) -> Quantile | None:
    if len(ttft_seconds) < least_requests(level):
        return None
    order = np.argsort(ttft_seconds, kind="stable")
    return Quantile(ttft_seconds[order], parts.part[finished][order], parts.count, level)


def _sums(values: NDArray[np.generic], parts: Parts) -> NDArray[np.float64]:
    weights = values.astype(np.float64)
    return np.bincount(parts.part, weights, parts.count).astype(np.float64, copy=False)

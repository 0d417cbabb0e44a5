"""The result of a simulation: records, counters and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.results.load import load_of
from simulator.results.percentiles import percentiles, with_usual
from simulator.results.records import FINISHED, LOSSES, REJECTED, UNFINISHED


@dataclass(frozen=True, slots=True)
class PoolCounters:
    """Counters of one memory pool of one replica over the whole run, including warm-up."""

    replica: int
    pool: str
    capacity_bytes: int | None
    checkpoints_evicted: int
    checkpoint_peak_count: int
    checkpoint_peak_bytes: int
    kv_peak_bytes: int
    kv_evicted_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of all memory pools, and their sums.

    Peaks are sums of the pools' peaks, which may have occurred at different times.
    """

    checkpoints_evicted: int
    checkpoint_peak_count: int
    checkpoint_peak_bytes: int
    kv_peak_bytes: int
    kv_evicted_bytes: int
    peak_bytes: int
    kv_bytes_per_token: int
    extrapolated_requests: int
    pools: tuple[PoolCounters, ...] = ()

    @classmethod
    def of(
        cls, pools: Sequence[PoolCounters], kv_bytes_per_token: int, extrapolated_requests: int
    ) -> Counters:
        """Sum the counters of all pools."""
        return cls(
            checkpoints_evicted=sum(pool.checkpoints_evicted for pool in pools),
            checkpoint_peak_count=sum(pool.checkpoint_peak_count for pool in pools),
            checkpoint_peak_bytes=sum(pool.checkpoint_peak_bytes for pool in pools),
            kv_peak_bytes=sum(pool.kv_peak_bytes for pool in pools),
            kv_evicted_bytes=sum(pool.kv_evicted_bytes for pool in pools),
            peak_bytes=sum(pool.peak_bytes for pool in pools),
            kv_bytes_per_token=kv_bytes_per_token,
            extrapolated_requests=extrapolated_requests,
            pools=tuple(pools),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of one simulation.

    Parameters
    ----------
    columns
        One row per request, in trace order: `records.COUNT_COLUMNS` as int64,
        `records.TIME_COLUMNS` and `ttft_seconds` as float64.
    counters
        Counters of the cache.
    simulated_seconds
        Simulated time at the end.
    wall_seconds
        Real time that the simulation took.
    full_seconds
        float64, one per row: prefill time without a cache. None for the instant server and for
        several replicas, for which load is not defined.
    positions
        int64: positions of all stored states, in tokens from the start of the prompt, ordered by
        row; `checkpoints_written` tells how many belong to each row.
    """

    columns: dict[str, NDArray[Any]]
    counters: Counters
    simulated_seconds: float
    wall_seconds: float
    full_seconds: NDArray[np.float64] | None = None
    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def summary(
        self, warmup_share: float = 0.0, percentile_names: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return the main figures of a run as plain values for JSON; None for undefined figures.

        Parameters
        ----------
        warmup_share
            Fraction of the requests, counted from the first, to exclude. It does not apply to
            `counters`: peaks, evictions, requests beyond the measured range.
        percentile_names
            Percentiles of time to first token, such as "p95", in addition to p50, p90 and p99.
        """
        rows = self.rows_after(warmup_share)
        prompt, saved = int(rows["prompt_tokens"].sum()), int(rows["saved_tokens"].sum())
        lost = {loss: int(rows[f"lost_{loss}_tokens"].sum()) for loss in LOSSES}
        finished = rows["status"] == FINISHED
        return {
            "requests": {
                "total": len(finished),
                "finished": int(finished.sum()),
                "rejected": int((rows["status"] == REJECTED).sum()),
                "unfinished": int((rows["status"] == UNFINISHED).sum()),
            },
            "prompt_tokens": prompt,
            "saved_tokens": saved,
            "recomputed_tokens": prompt - saved - lost["not_served"],
            "token_hit_rate": saved / prompt if prompt else None,
            "ttft_seconds": quantiles(rows["ttft_seconds"][finished], percentile_names),
            "server": self.load(warmup_share),
            "lost_tokens": lost,
            "checkpoints": self._checkpoints(rows, int(finished.sum())),
            "kv": self._kv(rows, finished),
            "cache": {
                "peak_bytes": self.counters.peak_bytes,
                "mean_bytes": _mean(rows["kv_bytes"] + rows["checkpoint_bytes"]),
            },
            "extrapolated_requests": self.counters.extrapolated_requests,
            "simulated_seconds": self.simulated_seconds,
            "wall_seconds": self.wall_seconds,
        }

    def load(self, warmup_share: float = 0.0) -> dict[str, Any] | None:
        """Return the fields of `simulator.results.load.Load`, or None if load is undefined."""
        if self.full_seconds is None:
            return None
        first = int(len(self.columns["status"]) * warmup_share)
        return asdict(load_of(self.columns, self.full_seconds, first, self.simulated_seconds))

    def rows_after(self, warmup_share: float) -> dict[str, NDArray[Any]]:
        """Return the columns without the first `warmup_share` (a fraction) of the requests."""
        first = int(len(self.columns["status"]) * warmup_share)
        return {name: column[first:] for name, column in self.columns.items()}

    def _checkpoints(self, rows: dict[str, NDArray[Any]], finished: int) -> dict[str, Any]:
        """Return the summary's figures on checkpoints (stored states)."""
        written = int(rows["checkpoints_written"].sum())
        saved = int(rows["saved_tokens"].sum())
        return {
            "written": written,
            "evicted": self.counters.checkpoints_evicted,
            "peak_count": self.counters.checkpoint_peak_count,
            "peak_bytes": self.counters.checkpoint_peak_bytes,
            "mean_per_request": written / finished if finished else None,
            "saved_tokens_each": saved / written if written else None,
        }

    def _kv(self, rows: dict[str, NDArray[Any]], finished: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the summary's figures on KV.

        KV after a request's resume point is called stranded: resident, but not reused.
        """
        stranded = (rows["kv_tokens"] - rows["saved_tokens"])[finished]
        stranded_tokens = _mean(stranded)
        per_token = self.counters.kv_bytes_per_token
        return {
            "peak_bytes": self.counters.kv_peak_bytes,
            "evicted_bytes": self.counters.kv_evicted_bytes,
            "stranded_bytes_mean": None if stranded_tokens is None else stranded_tokens * per_token,
        }


def quantiles(
    ttft_seconds: NDArray[np.float64], names: Iterable[str] = ()
) -> dict[str, float | int | None]:
    """Return mean, percentiles and count of times to first token; NaN values are excluded.

    The percentiles are p50, p90, p99 and those in `names`. Those for which the sample is too small
    are None (see `simulator.results.percentiles`).
    """
    ttft_seconds = ttft_seconds[~np.isnan(ttft_seconds)]
    count = len(ttft_seconds)
    return {
        "mean": _mean(ttft_seconds),
        **percentiles(ttft_seconds, with_usual(names)),
        "count": count,
    }


def _mean(values: NDArray[Any]) -> float | None:
    """Return the mean of an array, None if it is empty."""
    return float(values.mean()) if len(values) else None

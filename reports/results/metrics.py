"""From a result to the plain metrics of a cell, and to blocks of requests for resampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.results.overload import FIGURES
from reports.results.pools import flat_pools, pools_of
from simulator.results.records import LOSSES

if TYPE_CHECKING:
    from simulator.results.result import Result

BLOCKS = 64
_AS_SUMMARISED = ("prompt_tokens", "saved_tokens", "recomputed_tokens", "token_hit_rate")


def flat_metrics(
    result: Result, warmup_share: float, percentile_names: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the metrics of a cell by column name; None where a number is not defined.

    Parameters
    ----------
    result
        A result of `simulate`.
    warmup_share
        The share of all requests, from the first on, that are left out.
    percentile_names
        Such as "p95": columns `ttft_p95_seconds` besides those of P50, P90 and P99.

    The load of the server is in `offered_load`, `offered_load_nothing_saved` and
    `offered_load_last_half` (seconds of work that arrive per second), `server_utilisation` (a share
    of 1), `wait_last_quarter_seconds` and `queue_grows`, as `simulator.results.load.Load` has
    them; None for the instant server.
    """
    summary = result.summary(warmup_share, percentile_names)
    ttft, checkpoints, kv = summary["ttft_seconds"], summary["checkpoints"], summary["kv"]
    metrics: dict[str, Any] = {
        **{f"requests_{status}": count for status, count in summary["requests"].items()},
        **{name: summary[name] for name in _AS_SUMMARISED},
        **{f"ttft_{name}_seconds": value for name, value in ttft.items() if name != "count"},
        **{f"lost_{loss}_tokens": tokens for loss, tokens in summary["lost_tokens"].items()},
        **{f"checkpoints_{name}": value for name, value in checkpoints.items()},
        **{f"kv_{name}": value for name, value in kv.items()},
        "cache_peak_bytes": summary["cache"]["peak_bytes"],
        "cache_mean_bytes": summary["cache"]["mean_bytes"],
        **flat_pools(pools_of(result.counters.pools, summary["lost_tokens"])),
        **_load(summary["server"] or {}),
        **{name: summary[name] for name in ("extrapolated_requests", "simulated_seconds")},
    }
    return {name: _plain(value) for name, value in metrics.items()}


def blocks(result: Result, warmup_share: float) -> dict[str, list[Any]]:
    """Return sums over blocks of consecutive requests, at most 64, of the requests that count.

    The sums over all blocks are the totals of `flat_metrics`; KV and checkpoint bytes are those
    after the last request of the block, arrival that of its first.
    """
    counted = result.rows_after(warmup_share)
    requests = len(counted["status"])
    if not requests:
        return {name: [] for name in BLOCK_COLUMNS}
    edges = np.linspace(0, requests, min(BLOCKS, requests) + 1).astype(np.int64)
    starts, lasts = edges[:-1], edges[1:] - 1
    timed = ~np.isnan(counted["ttft_seconds"])  # finished, by a profile that tells times

    def sums(values: NDArray[Any]) -> list[Any]:
        return list(np.add.reduceat(values, starts).tolist())

    values = (
        sums(counted["prompt_tokens"]),
        sums(counted["saved_tokens"]),
        sums(np.where(timed, counted["ttft_seconds"], 0.0)),
        sums(timed.astype(np.int64)),
        counted["arrival_seconds"][starts].tolist(),
        counted["kv_bytes"][lasts].tolist(),
        counted["checkpoint_bytes"][lasts].tolist(),
        *(sums(counted[f"lost_{loss}_tokens"]) for loss in LOSSES),
    )
    return dict(zip(BLOCK_COLUMNS, values, strict=True))


BLOCK_COLUMNS = (
    "block_prompt_tokens",
    "block_saved_tokens",
    "block_ttft_seconds",
    "block_finished",
    "block_arrival_seconds",
    "block_kv_bytes",
    "block_checkpoint_bytes",
    *(f"block_lost_{loss}_tokens" for loss in LOSSES),
)


def _load(load: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a server's load; None for a server without a clock."""
    return {LOAD_COLUMNS.get(name, name): load.get(name) for name in (*FIGURES, "queue_grows")}


def load_of_row(value: Callable[[str], Any]) -> dict[str, Any]:
    """Return the load of a cell or point by its columns, under the names of a run's summary."""
    return {name: value(LOAD_COLUMNS.get(name, name)) for name in (*FIGURES, "queue_grows")}


LOAD_COLUMNS = {"utilisation": "server_utilisation"}  # those of another name in a table of cells


def _plain(value: Any) -> Any:
    """Return a Python number, or None for NaN and infinity, which JSON does not know."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain

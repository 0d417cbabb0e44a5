"""One record a request, in plain columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

FINISHED, REJECTED, UNFINISHED = 0, 1, 2

# Loss attribution: why a prompt token was not saved, in the order of the chain (attribution.py).
LOSSES = (
    "never_seen",
    "last_token",
    "in_flight",
    "not_admitted",
    "kv_evicted",
    "not_checkpointed",
    "alignment",
    "state_evicted",
    "not_served",
)

COUNT_COLUMNS = (
    "request",  # its place in the trace
    "status",
    "prompt_tokens",
    "saved_tokens",
    "overlap_tokens",
    "kv_tokens",  # KV depth when the prefill started
    *(f"lost_{loss}_tokens" for loss in LOSSES),
    "checkpoints_written",
    # the cache after this request:
    "checkpoints_resident",
    "checkpoint_bytes",
    "kv_bytes",
)

TIME_COLUMNS = (
    "arrival_seconds",
    "wait_seconds",
    "restore_seconds",
    "prefill_seconds",
    "capture_seconds",
)


class Records:
    """Collects one row a request, in the order in which they end."""

    def __init__(self) -> None:
        self._counts = array("q")
        self._times = array("d")

    def add(self, counts: Iterable[int], times: Iterable[float]) -> None:
        """Add a row: one value for each of COUNT_COLUMNS and of TIME_COLUMNS."""
        self._counts.extend(counts)
        self._times.extend(times)

    def columns(self) -> dict[str, NDArray[np.int64] | NDArray[np.float64]]:
        """Return the columns by name, rows in the order of the trace.

        `ttft_seconds` is added: the sum of the times, NaN where the request did not finish.
        """
        counts = np.array(self._counts, dtype=np.int64).reshape(-1, len(COUNT_COLUMNS))
        times = np.array(self._times, dtype=np.float64).reshape(-1, len(TIME_COLUMNS))
        if (np.diff(counts[:, 0]) < 0).any():
            order = np.argsort(counts[:, 0], kind="stable")
            counts, times = counts[order], times[order]
        columns: dict[str, NDArray[np.int64] | NDArray[np.float64]] = {}
        columns.update(zip(COUNT_COLUMNS, counts.T, strict=True))
        columns.update(zip(TIME_COLUMNS, times.T, strict=True))
        columns["ttft_seconds"] = np.where(
            columns["status"] == FINISHED, times[:, 1:].sum(axis=1), np.nan
        )
        return columns

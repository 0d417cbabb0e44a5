"""The records of a simulation: one row per request, in named columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace

ABSENT, FINISHED, REJECTED, UNFINISHED = 0, 1, 2, 3  # absent: arrived after the horizon

# Reasons why a prompt token was not saved; see `simulator.cache.match` for their definitions.
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

TTFT_COLUMN = "ttft_seconds"
Counts: TypeAlias = "memoryview[int]"  # int64
Seconds: TypeAlias = "memoryview[float]"  # float64


@dataclass
class Columns:
    """The columns of the records, as views that are written while the simulation runs.

    Names that end in `_seconds` hold floats, all others integers. They are memoryviews, to which
    single values are written several times faster than to numpy arrays.
    """

    request: Counts  # index in the trace
    status: Counts
    prompt_tokens: Counts
    saved_tokens: Counts
    overlap_tokens: Counts
    kv_tokens: Counts  # KV depth when the prefill started
    lost_never_seen_tokens: Counts
    lost_last_token_tokens: Counts
    lost_in_flight_tokens: Counts
    lost_not_admitted_tokens: Counts
    lost_kv_evicted_tokens: Counts
    lost_not_checkpointed_tokens: Counts
    lost_alignment_tokens: Counts
    lost_state_evicted_tokens: Counts
    lost_not_served_tokens: Counts
    checkpoints_written: Counts
    # contents of the cache after this request:
    checkpoints_resident: Counts
    checkpoint_bytes: Counts
    kv_bytes: Counts
    replica: Counts  # index of the replica that served it
    arrival_seconds: Seconds
    wait_seconds: Seconds
    restore_seconds: Seconds
    prefill_seconds: Seconds
    capture_seconds: Seconds


_NAMES = tuple(field.name for field in fields(Columns))
COUNT_COLUMNS = tuple(name for name in _NAMES if not name.endswith("_seconds"))
TIME_COLUMNS = tuple(name for name in _NAMES if name.endswith("_seconds"))
SERVICE_COLUMNS = TIME_COLUMNS[2:]  # times after waiting
_WIDE: dict[str, Any] = {"seconds": np.float64, "bytes": np.int64}  # by last word of the name


class Records:
    """The result table with one row per request, initially all 0.

    Parameters
    ----------
    requests
        Number of requests.
    most_tokens
        Largest number of tokens in a prompt with its answer. Tokens are stored in 32 bits if they
        fit, to save memory.
    """

    def __init__(self, requests: int, most_tokens: int = 0) -> None:
        tokens = np.int32 if max(requests, most_tokens) < 2**31 else np.int64
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.zeros(requests, _WIDE.get(name.rpartition("_")[2], tokens)) for name in _NAMES
        }
        views: dict[str, Any] = {name: values.data for name, values in self._arrays.items()}
        self.rows = Columns(**views)
        self._positions = array("q")  # of all stored states, by request
        self._writers = array("I")  # the requests they belong to, in the same order

    @classmethod
    def of(cls, trace: Trace) -> Records:
        """Create the records of a trace, with prompt lengths and arrival times filled in."""
        records = cls(len(trace), int(trace.tree.stop.max(initial=0)))
        records._arrays["prompt_tokens"][:] = trace.prompt_tokens
        if trace.arrival_seconds is not None:
            records._arrays["arrival_seconds"][:] = trace.arrival_seconds
        return records

    def add_positions(self, request: int, positions: Iterable[int]) -> None:
        """Record the positions, in tokens, where a request stored states; once per request.

        Their number must equal the request's `checkpoints_written`.
        """
        self._writers.append(request)
        self._positions.extend(positions)

    def positions(self) -> NDArray[np.int64]:
        """Return the positions of all stored states: int64, ordered by request, then ascending.

        `checkpoints_written` tells how many belong to each request.
        """
        writers = np.array(self._writers, dtype=np.int64)  # a copy, since the array may still grow
        written = self._arrays["checkpoints_written"][writers]
        order = np.argsort(np.repeat(writers, written), kind="stable")
        return np.array(self._positions, dtype=np.int64)[order]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, in trace order, without requests that did not arrive.

        A column `ttft_seconds` is added: time to first token, NaN for unfinished requests.
        """
        self._arrays["request"][:] = np.arange(len(self._arrays["request"]))
        arrived = self._arrays["status"] != ABSENT
        columns = {
            name: (column if arrived.all() else column[arrived]).astype(
                np.int64 if name in COUNT_COLUMNS else np.float64, copy=False
            )
            for name, column in self._arrays.items()
        }
        parts = sum(columns[name] for name in TIME_COLUMNS[1:])
        ttft = np.where(columns["status"] == FINISHED, parts, np.nan)
        return columns | {TTFT_COLUMN: ttft}

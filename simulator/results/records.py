"""One record a request, in named columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace

ABSENT, FINISHED, REJECTED, UNFINISHED = 0, 1, 2, 3  # absent: did not arrive in time

# Loss attribution: why a prompt token was not saved, in the order of the chain (cache/match.py).
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
    """The columns of the records: one line each.

    Whoever knows a value writes it into the row of its request. Those that end in `_seconds` hold
    floats, all others whole numbers. They are memoryviews, which take plain numbers several times
    faster than numpy arrays do.
    """

    request: Counts  # its place in the trace
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
    # the cache after this request:
    checkpoints_resident: Counts
    checkpoint_bytes: Counts
    kv_bytes: Counts
    replica: Counts  # the one that served it
    arrival_seconds: Seconds
    wait_seconds: Seconds
    restore_seconds: Seconds
    prefill_seconds: Seconds
    capture_seconds: Seconds


_NAMES = tuple(field.name for field in fields(Columns))
COUNT_COLUMNS = tuple(name for name in _NAMES if not name.endswith("_seconds"))
TIME_COLUMNS = tuple(name for name in _NAMES if name.endswith("_seconds"))
SERVICE_COLUMNS = TIME_COLUMNS[2:]  # of one request, once it runs
_WIDE: dict[str, Any] = {"seconds": np.float64, "bytes": np.int64}  # the last word of a name


class Records:
    """A row a request, all 0 at first.

    Parameters
    ----------
    requests
        How many there can be.
    most_tokens
        Of a prompt with its answer. Tokens are kept in 32 bits where they fit, since a simulation
        has its whole cache in memory as well.
    """

    def __init__(self, requests: int, most_tokens: int = 0) -> None:
        tokens = np.int32 if max(requests, most_tokens) < 2**31 else np.int64
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.zeros(requests, _WIDE.get(name.rpartition("_")[2], tokens)) for name in _NAMES
        }
        views: dict[str, Any] = {name: values.data for name, values in self._arrays.items()}
        self.rows = Columns(**views)
        self._positions = array("q")  # of all states that were stored, request by request
        self._writers = array("I")  # the requests that stored any, in that order

    @classmethod
    def of(cls, trace: Trace) -> Records:
        """Return the records of a trace, with what that tells of each request."""
        records = cls(len(trace), int(trace.tree.stop.max(initial=0)))
        records._arrays["prompt_tokens"][:] = trace.prompt_tokens
        if trace.arrival_seconds is not None:
            records._arrays["arrival_seconds"][:] = trace.arrival_seconds
        return records

    def add_positions(self, request: int, positions: Iterable[int]) -> None:
        """Note where `request` has stored states, as many as its row counts; at most once each."""
        self._writers.append(request)
        self._positions.extend(positions)

    def positions(self) -> NDArray[np.int64]:
        """Return where all states were stored, int64, in the order of the trace and ascending.

        `checkpoints_written` tells how many of them are of each request.
        """
        writers = np.array(self._writers, dtype=np.int64)  # copies: the arrays may go on growing
        written = self._arrays["checkpoints_written"][writers]
        order = np.argsort(np.repeat(writers, written), kind="stable")
        return np.array(self._positions, dtype=np.int64)[order]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, rows in the order of the trace, absent requests left out.

        `ttft_seconds` is added: the sum of the times, NaN where the request did not finish.
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

"""One record a request, in plain columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from struct import Struct

import numpy as np
from numpy.typing import NDArray

ABSENT, FINISHED, REJECTED, UNFINISHED = 0, 1, 2, 3  # absent: did not arrive in time

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

SERVICE_COLUMNS = ("restore_seconds", "prefill_seconds", "capture_seconds")
TIME_COLUMNS = ("arrival_seconds", "wait_seconds", *SERVICE_COLUMNS)
TTFT_COLUMN = "ttft_seconds"


_ROW = Struct(f"={len(COUNT_COLUMNS)}q{len(TIME_COLUMNS)}d")
_ROW_TYPE = np.dtype(
    [(name, np.int64) for name in COUNT_COLUMNS] + [(name, np.float64) for name in TIME_COLUMNS]
)


class Records:
    """A row a request, written when the request ends.

    Parameters
    ----------
    requests
        How many there can be.
    """

    def __init__(self, requests: int) -> None:
        self._rows = bytearray(requests * _ROW.size)
        self._positions = array("q")  # of all states that were stored, request by request
        self._writers = array("q")  # the requests that stored any, in that order

    def add(self, request: int, *values: float) -> None:
        """Write the row of `request`: whole numbers for the rest of COUNT_COLUMNS, then seconds."""
        _ROW.pack_into(self._rows, request * _ROW.size, request, *values)

    def add_positions(self, request: int, positions: Iterable[int]) -> None:
        """Note where `request` has stored states, as many as its row counts; at most once each."""
        self._writers.append(request)
        self._positions.extend(positions)

    def positions(self) -> NDArray[np.int64]:
        """Return where all states were stored, int64, in the order of the trace and ascending.

        `checkpoints_written` tells how many of them are of each request.
        """
        writers = np.array(self._writers, dtype=np.int64)  # copies: the arrays may go on growing
        written = np.frombuffer(self._rows, dtype=_ROW_TYPE)["checkpoints_written"][writers]
        order = np.argsort(np.repeat(writers, written), kind="stable")
        return np.array(self._positions, dtype=np.int64)[order]

    def columns(self) -> dict[str, NDArray[np.int64] | NDArray[np.float64]]:
        """Return the columns by name, rows in the order of the trace, absent requests left out.

        `ttft_seconds` is added: the sum of the times, NaN where the request did not finish. All
        others are views of the rows.
        """
        rows = np.frombuffer(self._rows, dtype=_ROW_TYPE)
        if not rows["status"].all():
            rows = rows[rows["status"] != ABSENT]
        columns = {name: rows[name] for name in _ROW_TYPE.names or ()}
        parts = sum(columns[name] for name in TIME_COLUMNS[1:])
        columns[TTFT_COLUMN] = np.where(columns["status"] == FINISHED, parts, np.nan)
        return columns

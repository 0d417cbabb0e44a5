"""The columns of requests that are validated, of a file or of a saved trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.trace.trace import Trace
from workloads.anomaly import Anomaly
from workloads.prefixes.numbering import Int64
from workloads.rows import Rows, to_trace


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Requests as columns, with what validation needs to know of their file.

    Parameters
    ----------
    trace
        The requests in the order of arrival.
    order
        int64, by row of the file: index of its request in `trace`.
    line
        Line of each row; None for a saved trace, which has none.
    times
        Seconds since the first request, by row; None without times.
    merged
        bool, by row: whether it has the time of an earlier one only because of rounding.
    closed_loop
        Whether times are derived from answers, so that they are not in the order of the file.
    known_options
        The options of the file's format; none for a saved trace.
    prefix
        int64, by request: equal where two prompts are equal as far as known; -1 if nothing
        is known.
    """

    trace: Trace
    order: Int64
    line: Int64 | None
    times: NDArray[np.float64] | None
    merged: NDArray[np.bool_]
    closed_loop: bool
    known_options: frozenset[str]
    prefix: Int64

    def __len__(self) -> int:
        return len(self.order)

    def hint(self, option: str, words: str) -> str:
        """Return `words`, a hint on an option, if the format has that option, else ""."""
        return words if option in self.known_options else ""

    def in_rows(self, what: str, where: NDArray[np.bool_], detail: str) -> Iterator[Anomaly]:
        """Yield an anomaly if `where` is true for any row (in the order of the file)."""
        if where.any():
            first = None if self.line is None else int(self.line[where.argmax()])
            yield Anomaly(what, int(np.count_nonzero(where)), first, detail)

    def in_requests(self, what: str, where: NDArray[np.bool_], detail: str) -> Iterator[Anomaly]:
        """Yield an anomaly if `where` is true for any request (in the order of the trace)."""
        yield from self.in_rows(what, where[self.order], detail)


def facts_of_trace(trace: Trace) -> Facts:
    """Return the columns of a saved trace."""
    leaf = trace.leaf.astype(np.int64)
    none, order = np.zeros(len(trace), dtype=np.bool_), np.arange(len(trace))
    return Facts(trace, order, None, trace.arrival_seconds, none, False, frozenset(), leaf)


def facts_of_rows(rows: Rows, prefix: Int64 | None = None) -> Facts:
    """Return the columns of rows, whose prompts are consumed.

    `prefix` is that of `Facts`, in the order of the file; None to use the leaf of each prompt.
    """
    times, arrival = None, np.arange(len(rows))
    merged = np.zeros(len(rows), dtype=np.bool_)
    if rows.time_ticks:
        times = rows.time_ticks.since_first()
        merged = rows.time_ticks.merged(times)
        arrival = np.argsort(times, kind="stable")
    trace = to_trace(rows, "")
    return Facts(
        trace=trace,
        order=np.argsort(arrival),
        line=np.frombuffer(rows.line, dtype=np.int64),
        times=times,
        merged=merged,
        closed_loop=rows.closed_loop,
        known_options=rows.known_options | {"jitter"},
        prefix=trace.leaf.astype(np.int64) if prefix is None else prefix[arrival],
    )

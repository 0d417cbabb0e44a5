"""The columns that are looked at, of a file that has been read or of a saved trace."""

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
    """Requests as columns.

    Parameters
    ----------
    trace
        The requests as they arrive: `line` and `times` alone are in another order.
    order
        int64: the request of `trace` that each row of the file has become.
    line
        Of each row; None in a saved trace, which remembers none.
    times
        Seconds, of each row; None without times.
    merged
        bool, of each row: whether only rounding gives it the time of an earlier one.
    closed_loop
        Whether times follow from answers, so that their order is not that of the file.
    known_options
        The options that reading the file takes: a saved trace takes none.
    prefix
        int64, by request: equal where all that can be matched of two prompts is equal; -1 where
        nothing can be.
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
        """Return words that name an option's flag, none where the format refuses it."""
        return words if option in self.known_options else ""

    def in_rows(self, what: str, where: NDArray[np.bool_], detail: str) -> Iterator[Anomaly]:
        """Yield an anomaly where any row (in the order of the file) shows it."""
        if where.any():
            first = None if self.line is None else int(self.line[where.argmax()])
            yield Anomaly(what, int(np.count_nonzero(where)), first, detail)

    def in_requests(self, what: str, where: NDArray[np.bool_], detail: str) -> Iterator[Anomaly]:
        """Yield an anomaly where any request (in the order of the trace) shows it."""
        yield from self.in_rows(what, where[self.order], detail)


def facts_of_trace(trace: Trace) -> Facts:
    """Return the columns of a saved trace."""
    leaf = trace.leaf.astype(np.int64)
    none, order = np.zeros(len(trace), dtype=np.bool_), np.arange(len(trace))
    return Facts(trace, order, None, trace.arrival_seconds, none, False, frozenset(), leaf)


def facts_of_rows(rows: Rows, prefix: Int64 | None = None) -> Facts:
    """Return the columns of rows, whose prompts are gone afterwards.

    `prefix` is that of `Facts`, in the order of the file; None where the leaf tells.
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
